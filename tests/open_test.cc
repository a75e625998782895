// Files as such: what cannot be opened, which format and tensor a name means, pages and mappings.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "io/mapped_file.h"
#include "io_support.h"

namespace tessera::io {
namespace {

using Values = std::vector<double>;
const Values kSix = {0, 1, 2, 3, 4, 5};

std::string six_floats() { return bytes_of<float>({0, 1, 2, 3, 4, 5}); }

TEST(Open, ThingsThatAreNoReadableFile) {
  const TempDir dir;
  const auto refused = [](const std::string& path) {
    return error_of(ErrorCode::kBadFile, [&] { open_matrix(path); });
  };
  expect_in(refused(dir.file("none.npy")), {"none.npy", "No such file"});
  expect_in(refused(dir.path()), {dir.path(), "is a directory"});
  expect_in(refused(dir.write("empty.npy", "")), {"empty.npy", "0 bytes"});
  ASSERT_EQ(::mkfifo(dir.file("fifo").c_str(), 0600), 0);
  expect_in(refused(dir.file("fifo")), {"FIFO"});
  expect_in(refused("/dev/null"), {"/dev/null", "device"});
  expect_in(refused(dir.write("text.npy", "hello, world")), {"text.npy", ".npy"});
  expect_in(refused(dir.write("text", "hello\nworld")), {"hello\\x0awo", "neither"});
  expect_in(refused(dir.write("a.npz", "PK\x03\x04 and so on")), {"zip", ".npz"});
  ::chmod(dir.write("secret.npy", "x").c_str(), 0);
  if (::geteuid() != 0) {
    expect_in(refused(dir.file("secret.npy")), {"secret.npy", "Permission denied"});
  }
  const std::string good =
      dir.write("good.npy", npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats()));
  expect_in(refused(good + ":weight"), {"good.npy", "no tensor names", "weight"});
}

// The format is told by content, and a path may hold a colon.
TEST(Open, NameOfTheFileDoesNotMatter) {
  const TempDir dir;
  const std::string file = npy(npy_dict("'<f4'", "False", "(2, 3)"), six_floats());
  for (const char* name : {"a.safetensors", "a", "a:b", "a:b:c.npy"}) {
    EXPECT_EQ(elements(open_matrix(dir.write(name, file))), kSix) << name;
  }
}

TEST(Open, ListGivesTheOneArray) {
  const TempDir dir;
  const std::string path =
      dir.write("x.npy", npy(npy_dict("'>f4'", "False", "(1, 2, 3)"), six_floats()));
  const std::vector<TensorEntry> list = list_tensors(path);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].name, "");
  EXPECT_EQ(list[0].dtype, ">f4");
  EXPECT_EQ(list[0].shape, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(list[0].bytes, 24);
}

// A file of 1 TiB, all hole: nothing may be read or allocated for it beyond the mapping.
TEST(Open, HugeFileOpensByMappingAlone) {
  const TempDir dir;
  const std::string path =
      dir.write("huge.npy", npy(npy_dict("'|u1'", "False", "(1048576, 1048576)"), ""));
  const auto header = static_cast<std::int64_t>(std::filesystem::file_size(path));
  if (::truncate(path.c_str(), header + (std::int64_t{1} << 40)) != 0) {
    GTEST_SKIP() << "the file system holds no sparse file of 1 TiB";
  }
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  const FileMatrix m = open_matrix(path);
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(m.rows, 1048576);
  EXPECT_EQ(m.bytes(), std::size_t{1} << 40);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 4096);  // KiB
  float last = -1;
  read_block(m, 1048575, 1048575, 1, 1, &last, 1);
  EXPECT_EQ(last, 0);
}

std::int64_t resident_pages(const FileMatrix& m) {
  const auto range = mapped_range(m.mapping);
  // Counted from the kernel's own table of this mapping; mincore() would count the page cache.
  std::ifstream maps("/proc/self/smaps");
  char start[32];
  std::snprintf(start, sizeof(start), "%lx-", reinterpret_cast<unsigned long>(range.data()));
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.rfind(start, 0) == 0) inside = true;
    if (inside && line.rfind("Rss:", 0) == 0) return std::stoll(line.substr(4)) / 4;
  }
  return -1;
}

TEST(Open, ReleasedPagesLeaveMemoryAndCanBeReadAgain) {
  const TempDir dir;
  std::vector<float> data(1 << 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  for (const char* order : {"False", "True"}) {
    const FileMatrix m = open_matrix(
        dir.write("r.npy", npy(npy_dict("'<f4'", order, "(2048, 512)"), bytes_of(data))));
    const std::vector<float> all = elements<float>(m);
    ASSERT_GE(resident_pages(m), 1024);
    const std::int64_t runs = m.layout == Layout::kRowMajor ? m.rows : m.cols;
    // Steps smaller than a page must not keep pages behind.
    for (std::int64_t i = 0; i < runs; ++i) release_pages(m, i, 1);
    EXPECT_LE(resident_pages(m), 1);
    EXPECT_EQ(elements<float>(m), all);
    EXPECT_THROW(release_pages(m, 0, runs + 1), Error);
    EXPECT_THROW(release_pages(m, -1, 1), Error);
  }
}

// Memory of another owner must not be given back to the system.
TEST(Open, ReleaseLeavesForeignMemoryAlone) {
  auto owner = std::make_shared<std::vector<float>>(1 << 16, 3.0f);
  FileMatrix m;
  m.rows = 256;
  m.cols = 256;
  m.data = reinterpret_cast<const std::byte*>(owner->data());
  m.mapping = owner;
  release_pages(m, 0, 256);
  EXPECT_EQ(elements(m), Values(1 << 16, 3.0));
}

TEST(Open, SameFile) {
  const TempDir dir;
  const std::string a = dir.write("a.npy", "x"), b = dir.write("b.npy", "x");
  std::filesystem::create_symlink(a, dir.file("link"));
  std::filesystem::create_hard_link(a, dir.file("hard"));
  EXPECT_TRUE(same_file(a, a));
  EXPECT_TRUE(same_file(a, dir.path() + "/./a.npy"));
  EXPECT_TRUE(same_file(a, dir.file("link")));
  EXPECT_TRUE(same_file(dir.file("hard"), a + ":tensor"));
  EXPECT_FALSE(same_file(a, b));
  EXPECT_FALSE(same_file(a, dir.file("none")));
  EXPECT_FALSE(same_file(dir.file("none"), dir.file("none")));
}

}  // namespace
}  // namespace tessera::io
