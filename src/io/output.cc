#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "io/convert.h"
#include "io/mapped_file.h"
#include "io/message.h"
#include "io/output_header.h"
#include "io/shape.h"
#include "io/target.h"
#include "io/temporaries.h"
#include "io/tensor.h"

namespace tessera::io {
namespace {

std::int64_t data_bytes_of(const std::string& path, DType dtype, std::int64_t rows,
                           std::int64_t cols) {
  if (rows < 0 || cols < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: output is {} x {}: sizes must be >= 0", path, rows, cols));
  }
  std::int64_t bytes = 0;
  // Room for the header below 2^63 as well.
  if (__builtin_mul_overflow(rows, cols, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(dtype)), &bytes) ||
      bytes > INT64_MAX - (1 << 20)) {
    output_failure(path, fmt::format("output is {} x {} of {}: its size in bytes exceeds 2^63",
                                     rows, cols, to_string(dtype)));
  }
  return bytes;
}

/// Writes zeros over the whole file; for file systems without reservation.
int fill_with_zeros(int fd, std::int64_t length) {
  const std::vector<char> zeros(1 << 20);
  for (std::int64_t at = 0; at < length;) {
    const auto step =
        static_cast<std::size_t>(std::min(length - at, static_cast<std::int64_t>(zeros.size())));
    const ssize_t written = ::pwrite(fd, zeros.data(), step, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    at += written;
  }
  return 0;
}

/// Every block is allocated now: a store through a mapping of a file with holes would end in SIGBUS
/// when the disk is full.
void reserve(int fd, std::int64_t length, const std::string& path) {
  int error = 0;
  do {
    error = ::posix_fallocate(fd, 0, length);
  } while (error == EINTR);
  if (error == EINVAL || error == EOPNOTSUPP || error == ENOSYS)
    error = fill_with_zeros(fd, length);
  if (error != 0) {
    output_failure(path, fmt::format("cannot reserve {} bytes: {}", length, errno_text(error)));
  }
}

std::shared_ptr<const void> map_for_writing(int fd, std::int64_t length, const std::string& path) {
  const auto bytes = static_cast<std::size_t>(length);
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    output_failure(path, fmt::format("cannot map {} bytes: {}", length, errno_text(errno)));
  }
  return std::shared_ptr<const void>(base, Unmap{bytes});
}

}  // namespace

struct OutputMatrix::Impl {
  Impl(const std::string& path_, DType dtype, std::int64_t rows, std::int64_t cols,
       const std::string& tensor, const std::vector<std::int64_t>& shape)
      : path(path_),
        data_bytes(data_bytes_of(path, dtype, rows, cols)),
        header(output_header(path, dtype, shape, data_bytes, tensor)),
        target(path),
        temporary(target.directory_fd(), target.name(), path) {
    length = data_bytes + static_cast<std::int64_t>(header.size());
    if (target.mode() && ::fchmod(temporary.fd(), *target.mode()) != 0) {
      output_failure(path, "cannot keep its permissions: " + errno_text(errno));
    }
    reserve(temporary.fd(), length, path);
    matrix.mapping = map_for_writing(temporary.fd(), length, path);
    base = static_cast<std::byte*>(const_cast<void*>(matrix.mapping.get()));
    std::memcpy(base, header.data(), header.size());
    matrix.name = is_safetensors_name(path) ? path + ":" + tensor : path;
    matrix.dtype = dtype;
    matrix.shape = shape;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.data = base + header.size();
  }

  std::byte* data() const { return base + header.size(); }

  void check_range(const char* what, std::int64_t first, std::int64_t count,
                   std::int64_t size) const {
    if (first < 0 || count < 0 || first > size || count > size - first) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("write: {} {} + {} of {} lie outside its {} x {}", what, first, count,
                              path, matrix.rows, matrix.cols));
    }
  }

  std::string path;
  std::int64_t data_bytes;
  std::string header;
  Target target;  // outlives the temporary, whose directory it holds open
  Temporary temporary;
  std::int64_t length = 0;
  std::byte* base = nullptr;
  FileMatrix matrix;
  bool committed = false;
};

namespace {

/// Throws when `shape` does not have rows * cols elements.
std::vector<std::int64_t> checked(std::vector<std::int64_t> shape, const std::string& path,
                                  std::int64_t rows, std::int64_t cols) {
  const auto elements = bits_of(shape, 1);
  if (elements && *elements == rows * cols) return shape;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: output is {} x {}: shape {} has other "
                                                       "elements",
                                                       path, rows, cols, shape_text(shape)));
}

}  // namespace

OutputMatrix::OutputMatrix(const std::string& path, DType dtype, std::int64_t rows,
                           std::int64_t cols, const std::string& tensor,
                           std::optional<std::vector<std::int64_t>> shape)
    : impl_(std::make_unique<Impl>(
          path, dtype, rows, cols, tensor,
          shape ? checked(std::move(*shape), path, rows, cols) : std::vector{rows, cols})) {}

OutputMatrix::~OutputMatrix() = default;

DType OutputMatrix::dtype() const { return impl_->matrix.dtype; }
std::int64_t OutputMatrix::rows() const { return impl_->matrix.rows; }
std::int64_t OutputMatrix::cols() const { return impl_->matrix.cols; }
std::byte* OutputMatrix::data() { return impl_->data(); }
FileMatrix OutputMatrix::as_input() const { return impl_->matrix; }

template <class T>
void OutputMatrix::write_block(std::int64_t row, std::int64_t col, std::int64_t rows,
                               std::int64_t cols, const T* in, std::int64_t ld_in) {
  const FileMatrix& m = impl_->matrix;
  impl_->check_range("rows", row, rows, m.rows);
  impl_->check_range("columns", col, cols, m.cols);
  if (cols == 0) return;
  const auto size = static_cast<std::int64_t>(size_of(m.dtype));
  for (std::int64_t i = 0; i < rows; ++i) {
    narrow(m.dtype, in + i * ld_in, cols, impl_->data() + ((row + i) * m.cols + col) * size);
  }
}

template void OutputMatrix::write_block<float>(std::int64_t, std::int64_t, std::int64_t,
                                               std::int64_t, const float*, std::int64_t);
template void OutputMatrix::write_block<double>(std::int64_t, std::int64_t, std::int64_t,
                                                std::int64_t, const double*, std::int64_t);

void OutputMatrix::release_rows(std::int64_t first, std::int64_t count) {
  const FileMatrix& m = impl_->matrix;
  impl_->check_range("rows", first, count, m.rows);
  if (count == 0 || m.cols == 0) return;
  const std::int64_t row_bytes = m.cols * static_cast<std::int64_t>(size_of(m.dtype));
  // Write-back is begun here so that dirty pages do not pile up until commit(). It is a hint: file
  // systems without it lose nothing but time.
  ::sync_file_range(impl_->temporary.fd(),
                    static_cast<std::int64_t>(impl_->header.size()) + first * row_bytes,
                    count * row_bytes, SYNC_FILE_RANGE_WRITE);
  drop_pages(m.mapping, m.data + first * row_bytes, m.data + (first + count) * row_bytes,
             first + count == m.rows);
}

void OutputMatrix::commit() {
  Impl& out = *impl_;
  if (out.committed) return;
  if (::msync(out.base, static_cast<std::size_t>(out.length), MS_SYNC) != 0 ||
      ::fsync(out.temporary.fd()) != 0) {
    output_failure(out.path, "cannot write to disk: " + errno_text(errno));
  }
  if (const int error = out.temporary.rename_to(out.target.name()); error != 0) {
    output_failure(out.path, "cannot rename the finished file to it: " + errno_text(error));
  }
  out.committed = true;
  // The new name is in place and the data on disk. Syncing the directory makes the name survive a
  // crash too; where that fails, a crash leaves the old file or the new one, whole either way.
  ::fsync(out.target.directory_fd());
}

}  // namespace tessera::io
