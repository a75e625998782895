// A regular file mapped for reading.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tessera::io {

/// Deleter of a mapping. Its type also marks the mappings of this library (see mapped_range).
struct Unmap {
  std::size_t length = 0;
  void operator()(const void* base) const noexcept;
};

struct MappedFile {
  std::shared_ptr<const void> mapping;
  std::span<const std::byte> bytes;
};

/// Maps the whole file; reads nothing. Refuses with Error(kBadFile) what is missing, unreadable,
/// empty, or not a regular file; a FIFO is not waited for. Another process that shortens the file
/// while it is mapped makes reads of the lost pages fail with SIGBUS, as for every mapping.
MappedFile map_file(const std::string& path);

/// The bytes behind a mapping of this library; empty for any other owner.
std::span<const std::byte> mapped_range(const std::shared_ptr<const void>& mapping);

/// Drops the pages of bytes [begin, end) of a mapping from this process; they come back from the
/// file on the next access. The page that holds `end` is kept unless `end` closes the matrix, so a
/// walk in ascending steps of any size drops every page once.
void drop_pages(const std::shared_ptr<const void>& mapping, const std::byte* begin,
                const std::byte* end, bool closes);

}  // namespace tessera::io
