// .safetensors files written byte by byte: what must load, with its values, and what is refused.
#include "io/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/near_names.h"
#include "io_support.h"

namespace tessera::io {
namespace {

using Values = std::vector<double>;

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string refusal(const std::string& file) {
  return error_of(ErrorCode::kBadFile, [&] { parse_safetensors(as_bytes(file), "x.safetensors"); });
}

FileMatrix only(const std::string& file) {
  const SafetensorsFile parsed = parse_safetensors(as_bytes(file), "x");
  return find_tensor(parsed, "x", parsed.entries.at(0).name);
}

TEST(Safetensors, TwoTensorsByName) {
  const TempDir dir;
  const std::string path =
      dir.write("x.safetensors",
                safetensors("{\"__metadata__\":{\"format\":\"pt\",\"by\":\"me\"}," +
                                entry("a", "F32", "[2,3]", "[0,24]") + "," +
                                entry("b.weight", "F64", "[2]", "[24,40]") + "}   ",
                            bytes_of<float>({0, 1, 2, 3, 4, 5}) + bytes_of<double>({0.1, -7})));
  const FileMatrix a = open_matrix(path + ":a");
  EXPECT_EQ(a.name, path + ":a");
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.cols, 3);
  EXPECT_EQ(a.layout, Layout::kRowMajor);
  EXPECT_EQ(elements(a), (Values{0, 1, 2, 3, 4, 5}));
  const FileMatrix b = open_matrix(path + ":b.weight");
  EXPECT_EQ(b.rows, 1);
  EXPECT_EQ(b.cols, 2);
  EXPECT_EQ(elements(b), (Values{0.1, -7}));

  const auto refused = [](const std::string& spec) {
    return error_of(ErrorCode::kBadFile, [&] { open_matrix(spec); });
  };
  expect_in(refused(path), {"2 tensors", "\"a\"", "\"b.weight\""});
  expect_in(refused(path + ":b.wieght"), {"\"b.wieght\"", "near names", "\"b.weight\""});
  expect_in(refused(path + ":weight"), {"near names: \"b.weight\""});
  expect_in(refused(path + ":something else"), {"2 tensors", "none has a near name"});
  expect_in(refused(dir.file("none.safetensors") + ":a"), {"none.safetensors: ", "No such file"});
}

TEST(Safetensors, FileWithOneTensorNeedsNoName) {
  const TempDir dir;
  const std::string path = dir.write(
      "one",
      safetensors("{" + entry("model:layer", "F32", "[]", "[0,4]") + "}", bytes_of<float>({7})));
  EXPECT_EQ(elements(open_matrix(path)), Values{7});
  EXPECT_EQ(elements(open_matrix(path + ":model:layer")), Values{7});
  const std::string none = dir.write("none.safetensors", safetensors("{}", ""));
  expect_in(error_of(ErrorCode::kBadFile, [&] { open_matrix(none); }), {"no tensor"});
  EXPECT_TRUE(list_tensors(none).empty());
}

// L5: each file is under 100 bytes.
TEST(Safetensors, OffsetsThatCannotBeTrueAreRefused) {
  const std::string four = "abcd";
  const auto file = [&](const std::string& shape, const std::string& offsets) {
    return safetensors("{" + entry("w", "F32", shape, offsets) + "}", four);
  };
  expect_in(refusal(file("[1024,1024]", "[0,4]")), {"\"w\"", "[0, 4]", "(1024, 1024)", "33554432"});
  expect_in(refusal(file("[1]", "[4,0]")), {"\"w\"", "[4, 0]", "before"});
  expect_in(refusal(file("[1]", "[-4,0]")), {"data_offsets", "-4", ">= 0"});
  expect_in(refusal(file("[1]", "[0,8]")), {"[0, 8]", "only 4 bytes"});
  expect_in(refusal(file("[1]", "[18446744073709551612,18446744073709551615]")),
            {"18446744073709551612", "only 4 bytes"});
  expect_in(refusal(file("[1]", "[0,18446744073709551620]")), {"data_offsets", ">= 0"});
  expect_in(refusal(file("[1]", "[0]")), {"holds 1 numbers", "two"});
  expect_in(refusal(file("[1]", "[0,2,4]")), {"holds 3 numbers", "two"});
  expect_in(refusal(file("[1]", "[0.0,4]")), {"data_offsets", "0.0"});
  expect_in(refusal(file("[1]", "4")), {"data_offsets", "array"});
  expect_in(refusal(file("[2]", "[0,4]")), {"(2,)", "64 bits"});
  // Products that wrap to the right number of bytes.
  expect_in(refusal(file("[4294967296,4294967296]", "[0,0]")), {"2^63"});
  expect_in(refusal(file("[9223372036854775808]", "[0,4]")), {"9223372036854775808", "2^63"});
  expect_in(refusal(file("[-1]", "[0,4]")), {"shape", "-1", ">= 0"});
  expect_in(refusal(file("[1.5]", "[0,4]")), {"shape", "1.5"});
  expect_in(refusal(file("[[1]]", "[0,4]")), {"shape", "an array"});
}

// L5
TEST(Safetensors, HeaderLengthBeyondTheFileIsRefused) {
  const std::string body = "{" + entry("w", "F32", "[1]", "[0,4]") + "}abcd";
  for (const std::uint64_t length :
       {std::uint64_t{1000}, std::uint64_t{1} << 62, std::uint64_t{UINT64_MAX}, UINT64_MAX - 7,
        UINT64_MAX - 8, std::uint64_t{body.size() + 1}}) {
    expect_in(refusal(number(length, 8) + body), {"header length", std::to_string(length)});
  }
  expect_in(refusal(""), {"0 bytes"});
  expect_in(refusal("1234567"), {"7 bytes", "8-byte"});
  expect_in(refusal(number(0, 8)), {"'{'"});
}

// The name of the file decides which rule is quoted when the content fits no format.
TEST(Safetensors, LyingLengthWithNothingBehindIsToldByName) {
  const TempDir dir;
  const std::string path = dir.write("x.safetensors", number(UINT64_MAX - 3, 8));
  expect_in(error_of(ErrorCode::kBadFile, [&] { open_matrix(path); }),
            {"header length", "18446744073709551612", "only 0 bytes"});
}

// L6
TEST(Safetensors, OverlapsAndHolesAreRefused) {
  const std::string eight = "12345678";
  const auto file = [&](const std::string& first, const std::string& second) {
    return safetensors(
        "{" + entry("a", "F32", "[1]", first) + "," + entry("b", "F32", "[1]", second) + "}",
        eight);
  };
  expect_in(refusal(file("[0,4]", "[0,4]")), {"\"a\"", "\"b\"", "share"});
  expect_in(refusal(file("[0,4]", "[2,6]")), {"share", "[2, 4)"});
  expect_in(refusal(file("[0,4]", "[1,5]")), {"share"});
  expect_in(refusal(safetensors("{" + entry("a", "F32", "[1]", "[0,4]") + "}", eight)),
            {"[4, 8)", "no tensor"});
  expect_in(refusal(safetensors("{" + entry("a", "F32", "[1]", "[4,8]") + "}", eight)),
            {"[0, 4)", "no tensor"});
  expect_in(refusal(safetensors("{}", eight)), {"[0, 8)", "no tensor"});
  expect_in(refusal(safetensors("{" + entry("a", "U8", "[3]", "[0,3]") + "," +
                                    entry("b", "U8", "[4]", "[4,8]") + "}",
                                eight)),
            {"[3, 4)", "no tensor"});
}

// L6
TEST(Safetensors, EmptyTensorsAndAnyOrderOfEntriesLoad) {
  const std::string file = safetensors("{" + entry("last", "F32", "[1,2]", "[8,16]") + "," +
                                           entry("empty", "F32", "[0,4]", "[8,8]") + "," +
                                           entry("first", "F32", "[2]", "[0,8]") + "," +
                                           entry("also", "F32", "[3,0]", "[16,16]") + "}",
                                       bytes_of<float>({1, 2, 3, 4}));
  const SafetensorsFile parsed = parse_safetensors(as_bytes(file), "x");
  EXPECT_EQ(elements(find_tensor(parsed, "x", "first")), (Values{1, 2}));
  EXPECT_EQ(elements(find_tensor(parsed, "x", "last")), (Values{3, 4}));
  const FileMatrix empty = find_tensor(parsed, "x", "empty");
  EXPECT_EQ(empty.rows, 0);
  EXPECT_EQ(empty.cols, 4);
  EXPECT_EQ(empty.bytes(), 0u);
  EXPECT_EQ(find_tensor(parsed, "x", "also").rows, 3);
  const std::string huge =
      safetensors("{" + entry("e", "F32", "[0,9223372036854775807]", "[0,0]") + "}", "");
  EXPECT_EQ(only(huge).cols, INT64_MAX);
}

// L7: 1.0, -0, NaN, the largest value, the smallest subnormal.
TEST(Safetensors, SmallFloatsWidenExactly) {
  struct Case {
    std::string dtype;
    int bytes;
    std::vector<std::uint64_t> codes;
    double largest, smallest;
  };
  for (const Case& c :
       {Case{"BF16", 2, {0x3f80, 0x8000, 0x7fc0, 0x7f7f, 0x0001}, 0x1.fep127, 0x1p-133},
        Case{"F16", 2, {0x3c00, 0x8000, 0x7e00, 0x7bff, 0x0001}, 65504, 0x1p-24},
        Case{"F8_E4M3", 1, {0x38, 0x80, 0x7f, 0x7e, 0x01}, 448, 0x1p-9},
        Case{"F8_E5M2", 1, {0x3c, 0x80, 0x7e, 0x7b, 0x01}, 57344, 0x1p-16}}) {
    std::string data;
    for (const std::uint64_t code : c.codes) data += number(code, c.bytes);
    const std::string file = safetensors(
        "{" + entry("w", c.dtype, "[1,5]", fmt::format("[0,{}]", 5 * c.bytes)) + "}", data);
    const FileMatrix m = only(file);
    const std::vector<float> v = elements<float>(m);
    EXPECT_EQ(v[0], 1.0f) << c.dtype;
    EXPECT_TRUE(v[1] == 0 && std::signbit(v[1])) << c.dtype;
    EXPECT_TRUE(std::isnan(v[2])) << c.dtype;
    EXPECT_EQ(static_cast<double>(v[3]), c.largest) << c.dtype;
    EXPECT_EQ(static_cast<double>(v[4]), c.smallest) << c.dtype;
    EXPECT_EQ(elements<double>(m)[4], c.smallest) << c.dtype;
  }
}

// L7
TEST(Safetensors, OtherTypesAreRefusedByNameAndTheRestStaysUsable) {
  const std::vector<std::pair<std::string, int>> types = {
      {"I64", 8}, {"I32", 4}, {"I16", 2},  {"I8", 1},      {"U8", 1}, {"U16", 2},      {"U32", 4},
      {"U64", 8}, {"C64", 8}, {"BOOL", 1}, {"F8_E8M0", 1}, {"F4", 1}, {"FUTURE_3", 7}, {"", 2}};
  for (const auto& [dtype, bytes] : types) {
    const char* shape = dtype == "F4" ? "[2]" : "[1]";
    const std::string file = safetensors(
        fmt::format("{{{},{}}}", entry("odd", dtype, shape, fmt::format("[0,{}]", bytes)),
                    entry("good", "F32", "[1]", fmt::format("[{},{}]", bytes, bytes + 4))),
        std::string(static_cast<std::size_t>(bytes), '\1') + bytes_of<float>({5}));
    const SafetensorsFile parsed = parse_safetensors(as_bytes(file), "x");
    EXPECT_EQ(elements(find_tensor(parsed, "x", "good")), Values{5}) << dtype;
    const std::string message =
        error_of(ErrorCode::kBadFile, [&] { find_tensor(parsed, "x", "odd"); });
    expect_in(message, {"\"odd\"", "\"" + dtype + "\"", "F64 F32 F16 BF16 F8_E4M3 F8_E5M2"});
  }
  // Where the size of a type is known, its tensors are held to it although they cannot be read.
  expect_in(refusal(safetensors("{" + entry("w", "I64", "[1]", "[0,4]") + "}", "abcd")),
            {"\"w\"", "I64", "64 bits"});
  expect_in(refusal(safetensors("{" + entry("w", "F4", "[3]", "[0,1]") + "}", "a")), {"12 bits"});
}

TEST(Safetensors, UnalignedDataIsReadButNotUsedInPlace) {
  for (const std::size_t pad : {0u, 1u, 2u, 3u}) {
    std::string header = fmt::format("{{{}}}", entry("w", "F32", "[2]", "[0,8]"));
    header += std::string(64 - header.size() % 8 + pad, ' ');
    const TempDir dir;
    const FileMatrix m = open_matrix(dir.write("x", safetensors(header, bytes_of<float>({1, -2}))));
    EXPECT_EQ(m.usable_as(DType::kF32), pad == 0);
    EXPECT_FALSE(m.usable_as(DType::kF64));
    EXPECT_EQ(elements(m), (Values{1, -2}));
  }
}

TEST(Safetensors, MoreThanTwoDimensionsAreListedButNoMatrix) {
  const TempDir dir;
  const std::string path =
      dir.write("x", safetensors("{" + entry("conv", "F16", "[1,2,1,1]", "[0,4]") + "," +
                                     entry("i", "I8", "[2,1]", "[4,6]") + "}",
                                 "123456"));
  const std::vector<TensorEntry> list = list_tensors(path);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "conv");
  EXPECT_EQ(list[0].dtype, "F16");
  EXPECT_EQ(list[0].shape, (std::vector<std::int64_t>{1, 2, 1, 1}));
  EXPECT_EQ(list[0].bytes, 4);
  EXPECT_EQ(list[1].dtype, "I8");
  EXPECT_EQ(list[1].bytes, 2);
  expect_in(error_of(ErrorCode::kBadFile, [&] { open_matrix(path + ":conv"); }),
            {"\"conv\"", "(1, 2, 1, 1)", "4 dimensions"});
}

TEST(Safetensors, HeadersThatAreNotTheFormatsAreRefused) {
  const std::string good = entry("w", "F32", "[1]", "[0,4]");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[]", "'{'"},
      {" {" + good + "}", "'{'"},
      {"\xEF\xBB\xBF{" + good + "}", "'{'"},
      {"{", "JSON"},
      {"{" + good, "JSON"},
      {"{" + good + "}x", "JSON"},
      {"{" + good + "}{}", "JSON"},
      {"{" + good + ",}", "JSON"},
      {std::string("{}\0", 3), "NUL"},
      {"{" + good + "}" + std::string(1, '\0'), "NUL"},
      {"{\"\xff\":1}", "JSON"},
      {"{\"w\":1}", "must be an object"},
      {"{\"w\":[1]}", "must be an object"},
      {"{\"w\":null}", "must be an object"},
      {"{\"w\":{}}", "no dtype"},
      {"{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", "no shape"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", "no data_offsets"},
      {"{\"w\":{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}}", "dtype"},
      {"{\"w\":{\"dtype\":[\"F32\"],\"shape\":[1],\"data_offsets\":[0,4]}}", "dtype"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[0,4]}}", "shape"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[\"1\"],\"data_offsets\":[0,4]}}", "shape"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[true],\"data_offsets\":[0,4]}}", "true"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":null,\"data_offsets\":[0,4]}}", "null"},
      {"{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
       "twice"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"strides\":[1]}}",
       "\"strides\""},
      {"{" + good + "," + good + "}", "twice"},
      {"{\"__metadata__\":{\"a\":1}," + good + "}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":{}}," + good + "}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":[]}," + good + "}", "__metadata__"},
      {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}," + good + "}", "twice"},
      {"{\"__metadata__\":{},\"__metadata__\":{}," + good + "}", "twice"},
      {"{\"__metadata__\":\"x\"," + good + "}", "__metadata__"},
  };
  for (const auto& [header, text] : cases) {
    expect_in(refusal(safetensors(header, "abcd")), {"x.safetensors", text});
  }
}

// Depth must cost neither stack nor memory.
TEST(Safetensors, DeepNestingIsRefusedAtItsBegin) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string header = "{\"w\":";
    for (int i = 0; i < 1'000'000; ++i) header += open;
    expect_in(refusal(safetensors(header, "")), {"\"w\""});
  }
}

TEST(Safetensors, HeaderAboveTheCapOfTheFormatIsRefused) {
  const std::string file = number(kMostHeaderBytes + 1, 8) + "{" +
                           std::string(static_cast<std::size_t>(kMostHeaderBytes), ' ');
  expect_in(refusal(file), {"100000001", "100000000"});
}

// A message is one line of modest length whatever the names hold.
TEST(Safetensors, NamesFromTheFileAreEscapedInMessages) {
  const std::string name = "a\\n\\u001b[31m\\u00e9" + std::string(100000, 'x');
  const std::string message =
      refusal(safetensors("{" + entry(name, "F32", "[1]", "[0,8]") + "}", "abcd"));
  expect_in(message, {"a\\x0a\\x1b[31m\\xc3\\xa9xxx"});
  EXPECT_LT(message.size(), 300u);
}

TEST(Safetensors, FilesThatEndTooSoonAreRefusedAtEveryLength) {
  const std::string file =
      safetensors("{" + entry("w", "F32", "[1]", "[0,4]") + "}", bytes_of<float>({1}));
  EXPECT_EQ(elements(only(file)), Values{1});
  for (std::size_t length = 0; length < file.size(); ++length) {
    expect_in(refusal(file.substr(0, length)), {"x.safetensors"});
  }
}

TEST(NearNames, NearestFirstAtMostFive) {
  const std::vector<std::string> names = {"encoder.weight",
                                          "encoder.bias",
                                          "decoder.weight",
                                          "head",
                                          "w1",
                                          "w2",
                                          "w3",
                                          "w4",
                                          "w5",
                                          "w6",
                                          ""};
  using Names = std::vector<std::string>;
  EXPECT_EQ(near_names("encoder.wieght", names, 5), (Names{"encoder.weight", "decoder.weight"}));
  EXPECT_EQ(near_names("bias", names, 5), Names{"encoder.bias"});
  EXPECT_EQ(near_names("w7", names, 5), (Names{"w1", "w2", "w3", "w4", "w5"}));
  EXPECT_EQ(near_names("entirely different", names, 5), Names{});
  EXPECT_EQ(near_names(std::string(1000, 'x'), names, 5), Names{});
}

}  // namespace
}  // namespace tessera::io
