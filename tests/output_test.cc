// Outputs: their bytes, and that nothing but a finished file ever appears under the target's name.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "io_support.h"

namespace tessera::io {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<double>;
using Names = std::vector<std::string>;
const std::array<double, 6> kSix = {0, 1, -2.5, 3, 4, 448};

void write_six(OutputMatrix& out) { out.write_block(0, 0, 2, 3, kSix.data(), 3); }
const Values kSixValues(kSix.begin(), kSix.end());

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0);
  return info.st_mode & 07777;
}

std::string refusal(const std::string& path, DType dtype = DType::kF32, std::int64_t rows = 2,
                    std::int64_t cols = 3) {
  return error_of(ErrorCode::kOutputFailure, [&] { OutputMatrix out(path, dtype, rows, cols); });
}

TEST(Output, NpyBytes) {
  const TempDir dir;
  const std::string path = dir.file("c.npy");
  OutputMatrix out(path, DType::kF32, 2, 3);
  write_six(out);
  out.commit();
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header += std::string(128 - 10 - 1 - header.size(), ' ') + "\n";
  EXPECT_EQ(read_file(path), npy(header, bytes_of<float>({0, 1, -2.5, 3, 4, 448})));
}

TEST(Output, HeaderHasTheShapeThatIsGiven) {
  const TempDir dir;
  struct Case {
    std::vector<std::int64_t> shape;
    std::int64_t rows, cols;
    std::string npy, safetensors;
  };
  for (const Case& c :
       {Case{{}, 1, 1, "()", "[]"}, Case{{6}, 1, 6, "(6,)", "[6]"},
        Case{{2, 3}, 2, 3, "(2, 3)", "[2,3]"}, Case{{1, 2, 3}, 2, 3, "(1, 2, 3)", "[1,2,3]"},
        Case{{2, 0, 3}, 0, 3, "(2, 0, 3)", "[2,0,3]"}}) {
    for (const char* name : {"c.npy", "c.safetensors"}) {
      OutputMatrix out(dir.file(name), DType::kF32, c.rows, c.cols, "C", c.shape);
      out.write_block(0, 0, c.rows, c.cols, kSix.data(), c.cols);
      EXPECT_EQ(out.as_input().shape, c.shape);
      out.commit();
      const FileMatrix m = open_matrix(dir.file(name), Rank::kAny);
      EXPECT_EQ(m.shape, c.shape);
      EXPECT_EQ(m.rows * m.cols, c.rows * c.cols);
    }
    EXPECT_NE(read_file(dir.file("c.npy")).find("'shape': " + c.npy + ", }"), std::string::npos);
    EXPECT_NE(read_file(dir.file("c.safetensors")).find("\"shape\":" + c.safetensors + ","),
              std::string::npos);
  }
}

TEST(Output, ShapeOfOtherElementsIsRefused) {
  const TempDir dir;
  error_of(ErrorCode::kInvalidArgument, [&] {
    OutputMatrix out(dir.file("c.npy"), DType::kF32, 2, 3, "C", std::vector<std::int64_t>{5});
  });
}

TEST(Output, SafetensorsBytes) {
  const TempDir dir;
  const std::string path = dir.file("c.safetensors");
  OutputMatrix out(path, DType::kBF16, 1, 2, "product \"1\"");
  const float values[] = {1, -2};
  out.write_block(0, 0, 1, 2, values, 2);
  out.commit();
  std::string header = R"({"product \"1\"":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}})";
  header += std::string(120 - header.size(), ' ');
  EXPECT_EQ(read_file(path), safetensors(header, bytes_of<std::uint16_t>({0x3f80, 0xc000})));
}

TEST(Output, EveryTypeReadsBackAsWritten) {
  const TempDir dir;
  for (const char* name : {"c.npy", "c.safetensors", "c"}) {
    for (const DType dtype :
         {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2}) {
      const bool npy = std::string(name) != "c.safetensors";
      if (npy && size_of(dtype) < 2) continue;
      if (npy && dtype == DType::kBF16) continue;
      OutputMatrix out(dir.file(name), dtype, 2, 3);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out.data()) % 64, 0u);
      write_six(out);
      Values want = kSixValues;
      if (dtype == DType::kF8E5M2) want[1 + 4] = 448;  // 1.75 * 2^8
      EXPECT_EQ(elements(out.as_input()), want) << to_string(dtype);
      EXPECT_EQ(out.as_input().dtype, dtype);
      out.commit();
      const FileMatrix back = open_matrix(dir.file(name));
      EXPECT_EQ(back.dtype, dtype) << name;
      EXPECT_EQ(back.shape, (std::vector<std::int64_t>{2, 3}));
      EXPECT_EQ(elements(back), want) << name << " " << to_string(dtype);
    }
  }
}

TEST(Output, TypesThatTheFormatCannotHold) {
  const TempDir dir;
  for (const DType dtype : {DType::kBF16, DType::kF8E4M3, DType::kF8E5M2}) {
    expect_in(refusal(dir.file("c.npy"), dtype),
              {"c.npy", std::string(to_string(dtype)), ".safetensors"});
  }
  for (const char* name : {"c.npy", "c.safetensors"}) {
    expect_in(refusal(dir.file(name), DType::kI32), {name, "i32"});
  }
  expect_in(
      error_of(
          ErrorCode::kOutputFailure,
          [&] { OutputMatrix out(dir.file("c.safetensors"), DType::kF32, 1, 1, "__metadata__"); }),
      {"__metadata__", "reserved"});
  expect_in(
      error_of(ErrorCode::kOutputFailure,
               [&] { OutputMatrix out(dir.file("c.safetensors"), DType::kF32, 1, 1, "\xff"); }),
      {"\\xff", "UTF-8"});
  EXPECT_TRUE(dir.names().empty());
}

TEST(Output, BlocksLandWhereTheyBelong) {
  const TempDir dir;
  OutputMatrix out(dir.file("c.npy"), DType::kF32, 5, 7);
  std::vector<float> block(4 * 9);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 9; ++j)
      block[static_cast<std::size_t>(9 * i + j)] = static_cast<float>(10 * i + j + 1);
  }
  out.write_block(1, 2, 3, 4, block.data(), 9);
  const Values all = elements(out.as_input());
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 7; ++j) {
      const bool inside = i >= 1 && i < 4 && j >= 2 && j < 6;
      EXPECT_EQ(all[static_cast<std::size_t>(7 * i + j)], inside ? 10 * (i - 1) + j - 1 : 0);
    }
  }
  for (const auto& [row, col, rows, cols] :
       std::vector<std::array<std::int64_t, 4>>{{-1, 0, 1, 1},
                                                {0, -1, 1, 1},
                                                {0, 0, 6, 1},
                                                {0, 0, 1, 8},
                                                {5, 0, 1, 1},
                                                {INT64_MAX, 0, INT64_MAX, 1},
                                                {0, 0, -1, 0}}) {
    const auto call = [&, r = row, c = col, m = rows, n = cols] {
      out.write_block(r, c, m, n, block.data(), 9);
    };
    expect_in(error_of(ErrorCode::kInvalidArgument, call), {"5 x 7"});
  }
}

TEST(Output, EmptyMatrices) {
  const TempDir dir;
  for (const char* name : {"c.npy", "c.safetensors"}) {
    for (const auto& [rows, cols] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}, {3, 0}, {0, 0}}) {
      OutputMatrix out(dir.file(name), DType::kF32, rows, cols);
      out.write_block<float>(0, 0, rows, cols, nullptr, cols);
      out.release_rows(0, rows);
      out.commit();
      const FileMatrix back = open_matrix(dir.file(name));
      EXPECT_EQ(back.rows, rows);
      EXPECT_EQ(back.cols, cols);
    }
  }
}

TEST(Output, ReleasedRowsKeepTheirValues) {
  const TempDir dir;
  OutputMatrix out(dir.file("c.npy"), DType::kF64, 300, 100);
  std::vector<double> row(100);
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 100; ++j) row[static_cast<std::size_t>(j)] = 1000 * i + j;
    out.write_block(i, 0, 1, 100, row.data(), 100);
    out.release_rows(i, 1);
  }
  EXPECT_THROW(out.release_rows(300, 1), Error);
  out.commit();
  const Values all = elements(open_matrix(dir.file("c.npy")));
  for (int i = 0; i < 300 * 100; ++i) {
    ASSERT_EQ(all[static_cast<std::size_t>(i)], 1000 * (i / 100) + i % 100);
  }
}

TEST(Output, NothingRemainsWithoutCommit) {
  const TempDir dir;
  const std::string path = dir.write("c.npy", "old");
  {
    OutputMatrix out(path, DType::kF32, 2, 3);
    write_six(out);
    ASSERT_EQ(dir.names().size(), 2u);
    for (const std::string& name : dir.names()) EXPECT_TRUE(name == "c.npy" || name[0] == '.');
    EXPECT_EQ(read_file(path), "old");
  }
  EXPECT_EQ(dir.names(), Names{"c.npy"});
  EXPECT_EQ(read_file(path), "old");
  {
    OutputMatrix out(path, DType::kF32, 2, 3);
    out.commit();
    EXPECT_EQ(dir.names(), Names{"c.npy"});
    out.commit();  // a second time changes nothing
  }
  EXPECT_EQ(dir.names(), Names{"c.npy"});
  EXPECT_NE(read_file(path), "old");
}

TEST(Output, InputViewOutlivesTheOutput) {
  const TempDir dir;
  std::optional<FileMatrix> view;
  {
    OutputMatrix out(dir.file("c.npy"), DType::kF32, 2, 3);
    write_six(out);
    view = out.as_input();
  }
  EXPECT_TRUE(dir.names().empty());
  EXPECT_EQ(elements(*view), kSixValues);
}

TEST(Output, PermissionsFollowTheUmaskOrTheFileReplaced) {
  const TempDir dir;
  const mode_t before = ::umask(027);
  {
    OutputMatrix out(dir.file("new.npy"), DType::kF32, 1, 1);
    out.commit();
  }
  ::umask(before);
  EXPECT_EQ(mode_of(dir.file("new.npy")), 0640u);
  const std::string old = dir.write("old.npy", "x");
  ::chmod(old.c_str(), 0604);
  OutputMatrix out(old, DType::kF32, 1, 1);
  out.commit();
  EXPECT_EQ(mode_of(old), 0604u);
}

TEST(Output, LinksAreWrittenThrough) {
  const TempDir dir;
  fs::create_directory(dir.file("real"));
  dir.write("real/c.npy", "old");
  fs::create_symlink("real/c.npy", dir.file("one.npy"));
  fs::create_symlink("one.npy", dir.file("two.npy"));
  fs::create_symlink("real/new.npy", dir.file("dangling.npy"));
  for (const char* name : {"two.npy", "dangling.npy"}) {
    OutputMatrix out(dir.file(name), DType::kF32, 2, 3);
    write_six(out);
    out.commit();
    EXPECT_TRUE(fs::is_symlink(dir.file(name)));
    EXPECT_EQ(elements(open_matrix(dir.file(name))), kSixValues);
  }
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir.file("real/new.npy"))));
  EXPECT_EQ(elements(open_matrix(dir.file("real/c.npy"))), kSixValues);
  fs::create_symlink("loop.npy", dir.file("loop.npy"));
  expect_in(refusal(dir.file("loop.npy")), {"loop.npy", "symbolic links"});
}

TEST(Output, TargetsThatCannotBeWritten) {
  const TempDir dir;
  fs::create_directory(dir.file("d.npy"));
  expect_in(refusal(dir.file("d.npy")), {"d.npy", "is a directory"});
  expect_in(refusal(dir.file("none/c.npy")), {"none/c.npy", "No such file"});
  dir.write("file", "x");
  expect_in(refusal(dir.file("file/c.npy")), {"file/c.npy", "Not a directory"});
  expect_in(refusal(dir.path() + "/"), {"not a file name"});
  expect_in(refusal(""), {"not a file name"});
  expect_in(refusal("/dev/full"), {"/dev/full", "not a regular file"});
  EXPECT_EQ(dir.names().size(), 2u);
  expect_in(refusal(dir.file("c.npy"), DType::kF64, INT64_MAX, 2), {"2^63"});
  expect_in(refusal(dir.file("c.npy"), DType::kF64, INT64_MAX / 8, 1), {"2^63"});
  expect_in(error_of(ErrorCode::kInvalidArgument,
                     [&] { OutputMatrix out(dir.file("c.npy"), DType::kF32, -1, 2); }),
            {"-1 x 2", ">= 0"});
  EXPECT_EQ(dir.names().size(), 2u);
}

/// Runs `body` in a child process, whose limits and identity it may change; true when it holds.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(good && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Output, FilesWithoutPermissionAreLeftAlone) {
  const TempDir dir;
  ::chmod(dir.path().c_str(), 0777);
  const std::string path = dir.write("c.npy", "old");
  ::chmod(path.c_str(), 0444);
  fs::create_directory(dir.file("closed"));
  ::chmod(dir.file("closed").c_str(), 0555);
  EXPECT_TRUE(in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return false;
    expect_in(refusal(path), {"c.npy", "not writable", "Permission denied"});
    expect_in(refusal(dir.file("closed/c.npy")), {"closed/c.npy", "Permission denied"});
    return true;
  }));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(dir.names().size(), 2u);
}

// A disk without room: the reservation fails, not a store through the mapping.
TEST(Output, NoRoomIsAnErrorBeforeAnythingIsWritten) {
  const TempDir dir;
  const std::string path = dir.write("c.npy", "old");
  EXPECT_TRUE(in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    expect_in(refusal(path, DType::kF32, 1024, 1024),
              {"c.npy", "cannot reserve 4194432 bytes", "File too large"});
    OutputMatrix fits(path, DType::kF32, 512, 256);
    return true;
  }));
  EXPECT_EQ(dir.names(), Names{"c.npy"});
  EXPECT_EQ(read_file(path), "old");
  // More than any disk holds.
  expect_in(refusal(path, DType::kF64, std::int64_t{1} << 30, std::int64_t{1} << 28),
            {"c.npy", "cannot reserve"});
  EXPECT_EQ(dir.names(), Names{"c.npy"});
}

TEST(Output, TargetThatBecomesADirectoryFailsAtCommit) {
  const TempDir dir;
  {
    OutputMatrix out(dir.file("c.npy"), DType::kF32, 2, 3);
    fs::create_directory(dir.file("c.npy"));
    expect_in(error_of(ErrorCode::kOutputFailure, [&] { out.commit(); }), {"c.npy", "rename"});
  }
  EXPECT_EQ(dir.names(), Names{"c.npy"});
}

TEST(Output, ChangeOfTheWorkingDirectoryDoesNotMoveIt) {
  const TempDir dir;
  EXPECT_TRUE(in_child([&] {
    fs::create_directory(dir.file("elsewhere"));
    fs::current_path(dir.path());
    OutputMatrix out("c.npy", DType::kF32, 2, 3);
    fs::current_path(dir.file("elsewhere"));
    write_six(out);
    out.commit();
    return true;
  }));
  EXPECT_EQ(elements(open_matrix(dir.file("c.npy"))), kSixValues);
}

TEST(Output, LongNamesWork) {
  const TempDir dir;
  const std::string name = fmt::format("{:n>251}.npy", "");
  OutputMatrix out(dir.file(name), DType::kF32, 1, 1);
  out.commit();
  EXPECT_EQ(dir.names(), Names{name});
}

TEST(Output, SignalHandlerRemovesTheTemporariesOfThisProcessOnly) {
  const TempDir dir;
  dir.write("a.npy", "old");
  OutputMatrix parent(dir.file("parent.npy"), DType::kF32, 2, 3);
  EXPECT_TRUE(in_child([&] {
    OutputMatrix a(dir.file("a.npy"), DType::kF32, 2, 3);
    OutputMatrix b(dir.file("b.npy"), DType::kF32, 2, 3);
    if (dir.names().size() != 4) return false;
    ::signal(SIGTERM, [](int) {
      remove_temporaries();
      ::_exit(0);
    });
    ::raise(SIGTERM);
    return false;
  }));
  EXPECT_EQ(dir.names().size(), 2u);  // a.npy and the parent's temporary
  EXPECT_EQ(read_file(dir.file("a.npy")), "old");
  write_six(parent);
  parent.commit();
  EXPECT_EQ(elements(open_matrix(dir.file("parent.npy"))), kSixValues);
}

TEST(Output, CommitAfterRemovalIsAnError) {
  const TempDir dir;
  {
    OutputMatrix out(dir.file("c.npy"), DType::kF32, 2, 3);
    remove_temporaries();
    EXPECT_TRUE(dir.names().empty());
    expect_in(error_of(ErrorCode::kOutputFailure, [&] { out.commit(); }), {"c.npy", "rename"});
  }
  // The places of removed temporaries are free again.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<OutputMatrix>> many;
    for (int i = 0; i < 64; ++i) {
      many.push_back(
          std::make_unique<OutputMatrix>(dir.file(fmt::format("m{}", i)), DType::kF32, 1, 1));
    }
    expect_in(refusal(dir.file("m64")), {"m64", "64 outputs"});
    if (round == 1) remove_temporaries();
  }
  EXPECT_TRUE(dir.names().empty());
}

}  // namespace
}  // namespace tessera::io
