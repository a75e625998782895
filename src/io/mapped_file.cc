#include "io/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "io/message.h"

namespace tessera::io {
namespace {

/// Closes on leaving the scope; a mapping outlives the descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory";
  if (S_ISFIFO(mode)) return "is a FIFO";
  return "is a device or socket";
}

}  // namespace

void Unmap::operator()(const void* base) const noexcept {
  ::munmap(const_cast<void*>(base), length);
}

MappedFile map_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) bad_file(path, "cannot open for reading: " + errno_text(errno));
  struct stat info;
  if (::fstat(file.fd, &info) != 0) bad_file(path, "cannot stat: " + errno_text(errno));
  if (!S_ISREG(info.st_mode)) {
    bad_file(path, kind_of(info.st_mode) + ": a matrix is read from a regular file");
  }
  if (info.st_size == 0) bad_file(path, "is empty: 0 bytes");
  const auto length = static_cast<std::size_t>(info.st_size);
  // Shared, so that dropping pages can never lose anything.
  void* base = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.fd, 0);
  if (base == MAP_FAILED) {
    const int error = errno;
    const std::string what = fmt::format("cannot map {} bytes: {}", length, errno_text(error));
    if (error == ENOMEM) throw Error(ErrorCode::kOutOfMemory, path + ": " + what);
    bad_file(path, what);
  }
  MappedFile out;
  out.mapping = std::shared_ptr<const void>(base, Unmap{length});
  out.bytes = {static_cast<const std::byte*>(base), length};
  return out;
}

std::span<const std::byte> mapped_range(const std::shared_ptr<const void>& mapping) {
  const Unmap* unmap = std::get_deleter<Unmap>(mapping);
  if (unmap == nullptr) return {};
  return {static_cast<const std::byte*>(mapping.get()), unmap->length};
}

void drop_pages(const std::shared_ptr<const void>& mapping, const std::byte* begin,
                const std::byte* end, bool closes) {
  // MADV_DONTNEED would erase memory that is not a file's, so only known mappings are touched.
  const std::span<const std::byte> range = mapped_range(mapping);
  if (range.empty() || begin >= end) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto first = static_cast<std::size_t>(begin - range.data()) / page * page;
  auto last = static_cast<std::size_t>(end - range.data());
  last = (closes ? last + page - 1 : last) / page * page;
  if (last > first) {
    ::madvise(const_cast<std::byte*>(range.data()) + first, last - first, MADV_DONTNEED);
  }
}

}  // namespace tessera::io
