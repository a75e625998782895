// .npy files written byte by byte: what must load, with its values, and what must be refused.
#include "io/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <tuple>

#include "io_support.h"
#include "tessera/gemm.h"

namespace tessera::io {
namespace {

using Values = std::vector<double>;
const Values kSix = {0, 1, 2, 3, 4, 5};

std::string six_floats() { return bytes_of<float>({0, 1, 2, 3, 4, 5}); }
std::string refusal(const std::string& file) {
  return error_of(ErrorCode::kBadFile, [&] { parse_npy(as_bytes(file), "x.npy"); });
}

// L1: the file holds the columns one after another.
TEST(Npy, FortranOrderIsTheSameMatrix) {
  const TempDir dir;
  const std::string path = dir.write(
      "f.npy", npy(npy_dict("'<f4'", "True", "(2, 3)"), bytes_of<float>({0, 3, 1, 4, 2, 5})));
  const FileMatrix m = open_matrix(path);
  EXPECT_EQ(m.layout, Layout::kColMajor);
  EXPECT_EQ(m.rows, 2);
  EXPECT_EQ(m.cols, 3);
  EXPECT_EQ(m.ld(), 2);
  EXPECT_EQ(elements(m), kSix);
}

// L1: both orders in one product, in place.
TEST(Npy, ProductOfCOrderAndFortranOrderWithoutCopies) {
  const TempDir dir;
  // Padded so that the data is aligned, as NumPy writes it.
  const auto aligned = [](std::string dict) {
    dict.resize(127 - 10, ' ');
    return dict + "\n";
  };
  const FileMatrix a = open_matrix(dir.write(
      "a.npy",
      npy(aligned("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"), six_floats())));
  const FileMatrix b = open_matrix(
      dir.write("b.npy", npy(aligned("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}"),
                             bytes_of<float>({1, 2, 3, 4, 5, 6}))));
  ASSERT_TRUE(a.usable_as(DType::kF32));
  ASSERT_TRUE(b.usable_as(DType::kF32));
  EXPECT_EQ(static_cast<const void*>(b.view<float>().data), static_cast<const void*>(b.data));
  std::vector<float> c(4, -1);
  gemm(Op::kN, Op::kN, 1.0f, a.view<float>(), b.view<float>(), 0.0f, row_major(c.data(), 2, 2));
  EXPECT_EQ(c, (std::vector<float>{8, 17, 26, 62}));
}

TEST(Npy, ManyDimensionsAreOneOfTheMatrixWhereTheyAreTaken) {
  const TempDir dir;
  const std::string path =
      dir.write("t.npy", npy(npy_dict("'<f4'", "False", "(1, 2, 3)"), six_floats()));
  EXPECT_NE(error_of(ErrorCode::kBadFile, [&] { open_matrix(path); }).find("3 dimensions"),
            std::string::npos);
  FileMatrix m = open_matrix(path, Rank::kAny);
  EXPECT_EQ(std::tuple(m.rows, m.cols, m.layout), std::tuple(2, 3, Layout::kRowMajor));
  EXPECT_EQ(m.shape, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(elements(m), kSix);
  m = open_matrix(dir.write("f.npy", npy(npy_dict("'<f4'", "True", "(2, 1, 3)"), six_floats())),
                  Rank::kAny);
  EXPECT_EQ(std::tuple(m.rows, m.cols, m.layout), std::tuple(2, 3, Layout::kColMajor));
  // Empty, however large the other sizes are: their product would not fit.
  m = open_matrix(
      dir.write("e.npy", npy(npy_dict("'<f4'", "False", "(4294967296, 4294967296, 0)"), "")),
      Rank::kAny);
  EXPECT_EQ(m.bytes(), 0u);
}

// L2
TEST(Npy, VersionsOneTwoAndThree) {
  for (const int major : {1, 2, 3}) {
    const std::string file = npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats(), major);
    EXPECT_EQ(elements(parse_npy(as_bytes(file), "x")), kSix) << major;
  }
  for (const int major : {0, 4, 255}) {
    const std::string file = npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats(), major);
    expect_in(refusal(file), {"x.npy", "version", std::to_string(major)});
  }
}

// L3 (a)
TEST(Npy, HeaderLengthBeyondTheFileIsRefused) {
  const std::string start = std::string("\x93NUMPY\x02\x00", 8);
  expect_in(refusal(start + number(0xFFFFFFF0u, 4)),
            {"header length", "4294967280", "only 0 bytes"});
  expect_in(refusal(std::string("\x93NUMPY\x01\x00\x76\x00{}", 12)),
            {"header length", "118", "only 2 bytes"});
}

// L3 (b)
TEST(Npy, ShapeProductThatWrapsIsRefused) {
  for (const char* shape : {"(4294967296, 4294967296)", "(9223372036854775807, 2)",
                            "(4611686018427387904, 4)", "(2147483648, 2147483648)"}) {
    expect_in(refusal(npy(npy_dict("'<f4'", "False", shape), "")), {"shape", "<f4", "2^63"});
  }
  expect_in(refusal(npy(npy_dict("'<f4'", "False", "(18446744073709551617,)"), "")),
            {"shape", "2^63"});
}

// L3 (c), and the other way round
TEST(Npy, DataMustBeAsLongAsTheShapeSays) {
  const std::string dict = npy_dict("'<f4'", "False", "(2, 3)");
  expect_in(refusal(npy(dict, six_floats().substr(0, 20))), {"20 bytes", "(2, 3)", "24"});
  expect_in(refusal(npy(dict, "")), {"0 bytes", "24"});
  expect_in(refusal(npy(dict, six_floats() + "abc")), {"27 bytes", "24", "3 bytes"});
  expect_in(refusal(npy(npy_dict("'<f4'", "False", "(100000, 100000)"), six_floats())),
            {"24 bytes", "40000000000"});
}

// L4
TEST(Npy, BigEndianIsRead) {
  std::string data;
  for (const float value : {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) {
    data += number(std::bit_cast<std::uint32_t>(value), 4, true);
  }
  const std::string file = npy(npy_dict("'>f4'", "False", "(2, 3)"), data);
  const FileMatrix m = parse_npy(as_bytes(file), "x");
  EXPECT_EQ(elements(m), kSix);
  EXPECT_EQ(elements<float>(m), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(m.usable_as(DType::kF32));
}

// L4
TEST(Npy, TypesThatCannotBeReadAreRefusedByDescr) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"'<ixy'", "<ixy"},
      {"''", "descr = \"\""},
      {"[('a', '<f4'), ('b', '<i4')]", "[('a', '<f4'), ('b', '<i4')]"},
      {"('<f4', (2,))", "('<f4', (2,))"},
      {"{'names': ['a']}", "{'names': ['a']}"},
      {"'|O'", "|O"},
      {"'O'", "O"},
      {"'<c8'", "<c8"},
      {"'<f16'", "<f16"},
      {"'<f'", "<f"},
      {"'<'", "<"},
      {"'<<f4'", "<<f4"},
      {"'<f4 '", "<f4 "},
      {"'<U5'", "<U5"},
      {"'<M8[ns]'", "<M8[ns]"},
      {"'<b2'", "<b2"},
      {"'<f99999999999999999999'", "<f99999999999999999999"},
  };
  for (const auto& [descr, text] : cases) {
    expect_in(refusal(npy(npy_dict(descr, "False", "(2, 3)"), six_floats())),
              {"x.npy", "descr", text});
  }
  expect_in(refusal(npy(npy_dict("'<V2'", "False", "(2, 3)"), std::string(12, 'x'))),
            {"<V2", ".safetensors"});
  expect_in(refusal(npy(npy_dict("4", "False", "(2, 3)"), six_floats())), {"descr"});
}

TEST(Npy, EveryReadableType) {
  struct Case {
    const char* descr;
    std::string data;
    DType dtype;
    Values values;
  };
  const std::vector<Case> cases = {
      {"'<f2'", bytes_of<std::uint16_t>({0x3c00, 0xc100}), DType::kF16, {1, -2.5}},
      {"'>f2'", std::string("\x3c\x00\xc1\x00", 4), DType::kF16, {1, -2.5}},
      {"'<f4'", bytes_of<float>({1, -2.5}), DType::kF32, {1, -2.5}},
      {"'=f4'", bytes_of<float>({1, -2.5}), DType::kF32, {1, -2.5}},
      {"'f4'", bytes_of<float>({1, -2.5}), DType::kF32, {1, -2.5}},
      {"'<f8'", bytes_of<double>({0.1, -2.5}), DType::kF64, {0.1, -2.5}},
      {"'|i1'", "\x01\xff", DType::kI8, {1, -1}},
      {"'|u1'", "\x01\xff", DType::kU8, {1, 255}},
      {"'>u1'", "\x01\xff", DType::kU8, {1, 255}},
      {"'<i2'", bytes_of<std::int16_t>({-300, 7}), DType::kI16, {-300, 7}},
      {"'>i2'", std::string("\x01\x00\xff\xfe", 4), DType::kI16, {256, -2}},
      {"'<u2'", bytes_of<std::uint16_t>({65535, 7}), DType::kU16, {65535, 7}},
      {"'<i4'", bytes_of<std::int32_t>({-70000, 7}), DType::kI32, {-70000, 7}},
      {"'<u4'", bytes_of<std::uint32_t>({4000000000u, 7}), DType::kU32, {4e9, 7}},
      {"'<i8'", bytes_of<std::int64_t>({-5000000000, 7}), DType::kI64, {-5e9, 7}},
      {"'<u8'", bytes_of<std::uint64_t>({1ull << 63, 7}), DType::kU64, {0x1p63, 7}},
      {"'|b1'", std::string("\x00\x01", 2), DType::kBool, {0, 1}},
  };
  for (const Case& c : cases) {
    const std::string file = npy(npy_dict(c.descr, "False", "(1, 2)"), c.data);
    const FileMatrix m = parse_npy(as_bytes(file), "x");
    EXPECT_EQ(m.dtype, c.dtype) << c.descr;
    EXPECT_EQ(elements(m), c.values) << c.descr;
    EXPECT_EQ(m.bytes(), c.data.size()) << c.descr;
  }
}

TEST(Npy, HeadersInAnyLegalSpelling) {
  const std::vector<std::string> dicts = {
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
      "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3)}",
      " \t{ 'descr' : '<f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , } \n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }      \n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + std::string(70000, ' '),
  };
  for (const std::string& dict : dicts) {
    const std::string file = npy(dict, six_floats(), 2);
    EXPECT_EQ(elements(parse_npy(as_bytes(file), "x")), kSix) << dict.substr(0, 80);
  }
}

TEST(Npy, HeadersThatSayTooLittleOrTooMuchAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "dict"},
      {"[]", "dict"},
      {"{", "key"},
      {"{}", "no descr"},
      {"{'descr': '<f4', 'shape': (6,)}", "no fortran_order"},
      {"{'descr': '<f4', 'fortran_order': False}", "no shape"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'extra': 1}", "\"extra\""},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x", "nothing may follow"},
      {std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}\0", 56),
       "nothing may follow"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': Falsey, 'shape': (6,)}", "','"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (6,)}", "','"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (6,)}", "':'"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (6,)}", "'"},
      {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (6,)}", "backslash"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}", "tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (6)}", "(n,)"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "decimal"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,,3)}", "decimal"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}", ">= 0"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}", "','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (02, 3)}", "leading zero"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0x2, 3)}", "','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (", "decimal"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", "','"},
  };
  for (const auto& [dict, text] : cases) {
    expect_in(refusal(npy(dict, six_floats())), {"x.npy", text});
  }
}

TEST(Npy, FilesThatEndTooSoonAreRefusedAtEveryLength) {
  for (const int major : {1, 2, 3}) {
    const std::string file = npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats(), major);
    for (std::size_t length = 0; length < file.size(); ++length) {
      expect_in(refusal(file.substr(0, length)), {"x.npy"});
    }
  }
}

TEST(Npy, ScalarsVectorsAndMoreDimensions) {
  const std::string scalar = npy(npy_dict("'<f4'", "False", "()"), bytes_of<float>({7}));
  const FileMatrix s = parse_npy(as_bytes(scalar), "x");
  EXPECT_EQ(s.rows, 1);
  EXPECT_EQ(s.cols, 1);
  EXPECT_TRUE(s.shape.empty());
  EXPECT_EQ(elements(s), Values{7});
  for (const char* order : {"False", "True"}) {
    const std::string vector = npy(npy_dict("'<f4'", order, "(6,)"), six_floats());
    const FileMatrix v = parse_npy(as_bytes(vector), "x");
    EXPECT_EQ(v.rows, 1);
    EXPECT_EQ(v.cols, 6);
    EXPECT_EQ(v.shape, std::vector<std::int64_t>{6});
    EXPECT_EQ(elements(v), kSix);
  }
  expect_in(refusal(npy(npy_dict("'<f4'", "False", "(1, 2, 3)"), six_floats())),
            {"(1, 2, 3)", "3 dimensions", "at most 2"});
}

TEST(Npy, EmptyMatricesOpen) {
  const TempDir dir;
  const std::vector<std::tuple<const char*, std::int64_t, std::int64_t>> cases = {
      {"(0,)", 1, 0},
      {"(0, 3)", 0, 3},
      {"(3, 0)", 3, 0},
      {"(0, 0)", 0, 0},
      {"(0, 9223372036854775807)", 0, INT64_MAX}};
  for (const auto& [shape, rows, cols] : cases) {
    const FileMatrix m = open_matrix(dir.write("e.npy", npy(npy_dict("'<f4'", "True", shape), "")));
    EXPECT_EQ(m.rows, rows) << shape;
    EXPECT_EQ(m.cols, cols) << shape;
    EXPECT_EQ(m.bytes(), 0u) << shape;
    float untouched = 5;
    read_block(m, 0, 0, m.rows, m.cols, &untouched, 1);
    EXPECT_EQ(untouched, 5) << shape;
    release_pages(m, 0, m.layout == Layout::kRowMajor ? m.rows : m.cols);
  }
}

// Every block of both layouts, with sizes around the tile of the transposing reader.
TEST(Npy, BlocksOfBothLayouts) {
  const std::int64_t rows = 37, cols = 67;
  std::vector<std::int16_t> by_rows, by_columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      by_rows.push_back(static_cast<std::int16_t>(100 * i + j));
    }
  }
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      by_columns.push_back(static_cast<std::int16_t>(100 * i + j));
    }
  }
  const std::string c_file = npy(npy_dict("'<i2'", "False", "(37, 67)"), bytes_of(by_rows));
  const std::string f_file = npy(npy_dict("'<i2'", "True", "(37, 67)"), bytes_of(by_columns));
  for (const std::string* file : {&c_file, &f_file}) {
    const FileMatrix m = parse_npy(as_bytes(*file), "x");
    for (const auto& [row, col, height, width] :
         std::vector<std::array<std::int64_t, 4>>{{0, 0, 37, 67},
                                                  {5, 3, 32, 32},
                                                  {4, 2, 33, 33},
                                                  {36, 66, 1, 1},
                                                  {1, 1, 31, 65},
                                                  {37, 67, 0, 0},
                                                  {3, 0, 1, 67},
                                                  {0, 9, 37, 1}}) {
      const std::int64_t ld = width + 3;
      std::vector<float> out(static_cast<std::size_t>(height * ld + 1), -1);
      read_block(m, row, col, height, width, out.data(), ld);
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < ld; ++j) {
          const auto want = j < width ? static_cast<float>(100 * (row + i) + col + j) : -1;
          ASSERT_EQ(out[static_cast<std::size_t>(i * ld + j)], want) << i << " " << j;
        }
      }
      EXPECT_EQ(out.back(), -1);
    }
    float out = 0;
    for (const auto& [row, col, height, width] :
         std::vector<std::array<std::int64_t, 4>>{{-1, 0, 1, 1},
                                                  {0, -1, 1, 1},
                                                  {37, 0, 1, 1},
                                                  {0, 67, 1, 1},
                                                  {0, 0, 38, 1},
                                                  {0, 0, 1, 68},
                                                  {0, 0, -1, 1},
                                                  {INT64_MAX, 0, INT64_MAX, 1}}) {
      const auto call = [&, r = row, c = col, h = height, w = width] {
        read_block(m, r, c, h, w, &out, 1);
      };
      expect_in(error_of(ErrorCode::kInvalidArgument, call), {"37 x 67"});
    }
  }
}

TEST(Npy, SourceForVerifyReadsTheSame) {
  const std::string file = npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats());
  const MatrixSource source = source_of(parse_npy(as_bytes(file), "x"));
  EXPECT_EQ(source.rows, 2);
  EXPECT_EQ(source.cols, 3);
  Values out(2, -1);
  source.read(0, 1, 2, 1, out.data(), 1);
  EXPECT_EQ(out, (Values{1, 4}));
}

}  // namespace
}  // namespace tessera::io
