// Matrices in files: .npy and .safetensors, memory-mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/error.h"
#include "tessera/matrix.h"
#include "tessera/precision.h"
#include "tessera/verify.h"

namespace tessera::io {

/// A tensor of at most two dimensions as a matrix in a mapped file. Copies share the mapping.
///
/// A vector of n elements is a 1 x n matrix and a scalar is 1 x 1; the original shape is kept in
/// `shape`. The elements are raw file bytes: aligned only as the file aligns them.
struct FileMatrix {
  std::string name;  ///< as given: "x.npy" or "x.safetensors:weight"
  DType dtype = DType::kF32;
  bool big_endian = false;
  std::vector<std::int64_t> shape;
  std::int64_t rows = 0, cols = 0;
  Layout layout = Layout::kRowMajor;  ///< kColMajor for a Fortran-order .npy; always dense
  const std::byte* data = nullptr;
  std::shared_ptr<const void> mapping;

  std::int64_t ld() const { return layout == Layout::kRowMajor ? cols : rows; }
  std::size_t bytes() const;
  /// True when gemm can read the elements in place: this dtype, native byte order, aligned.
  bool usable_as(DType wanted) const;
  /// In-place view; requires usable_as(DTypeOf<T>::value).
  template <class T>
  MatrixView<const T> view() const {
    return {reinterpret_cast<const T*>(data), rows, cols, ld(), layout, Space::kHost};
  }
};

/// How many dimensions are taken.
enum class Rank { kMatrix, kAny };

/// Opens "FILE.npy", "FILE.safetensors:TENSOR", or "FILE.safetensors" when it holds one tensor.
/// The format is told by the file's first bytes, not by its name. Maps the file; reads nothing but
/// the header, and allocates nothing on the word of a header. Throws Error(kBadFile) in one line:
/// file, field, value, rule. Of any rank, the last dimension (in Fortran order the first) is
/// contiguous, and the others are one of the matrix; `shape` has them all.
FileMatrix open_matrix(const std::string& spec, Rank rank = Rank::kMatrix);

/// One tensor of a file, as its header describes it. It need not be readable as a matrix.
struct TensorEntry {
  std::string name;   ///< empty for .npy, which has no names
  std::string dtype;  ///< in the file's own words: "<f4", "BF16"
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
};

/// The tensors of a .safetensors file in the order of its header, or the one array of a .npy file.
/// Throws as open_matrix.
std::vector<TensorEntry> list_tensors(const std::string& path);

/// True when both name the same existing file (links followed). Each is a path or "FILE:TENSOR".
bool same_file(const std::string& a, const std::string& b);

/// Widens elements (row..row+rows, col..col+cols) to T (float or double) at out[i * ld_out + j].
/// f16, bf16, f8 and small integers widen exactly; f64 and wide integers are rounded to nearest
/// when T is float. T may be BFloat16 or Float16 too: what it cannot hold is rounded once. bool
/// gives 0 or 1. Thread-safe. Throws Error(kInvalidArgument) for a block that
/// is not inside the matrix.
template <class T>
void read_block(const FileMatrix& m, std::int64_t row, std::int64_t col, std::int64_t rows,
                std::int64_t cols, T* out, std::int64_t ld_out);

/// A source for tessera::verify.
MatrixSource source_of(const FileMatrix& m);

/// Tells the kernel that the pages of these rows (row-major) or columns (column-major) are no
/// longer needed, so that resident memory stays bounded while a large file is walked in ascending
/// order. The elements stay readable.
void release_pages(const FileMatrix& m, std::int64_t first, std::int64_t count);

/// A row-major matrix being written to a file: a hidden temporary beside the target, reserved on
/// disk in full at construction, mapped for writing, renamed to the target by commit(). Destroyed
/// without commit (an exception, a failed check), the temporary is removed and the target is as
/// it was. remove_temporaries() does the same from a signal handler.
class OutputMatrix {
 public:
  /// The format follows the name: .safetensors (one tensor named `tensor`) or else .npy.
  /// The header has `shape`, of rows * cols elements, where that is not just (rows, cols).
  /// Throws Error(kOutputFailure): not writable, directory missing, disk full, dtype not in format.
  OutputMatrix(const std::string& path, DType dtype, std::int64_t rows, std::int64_t cols,
               const std::string& tensor = "C",
               std::optional<std::vector<std::int64_t>> shape = std::nullopt);
  ~OutputMatrix();
  OutputMatrix(const OutputMatrix&) = delete;
  OutputMatrix& operator=(const OutputMatrix&) = delete;

  DType dtype() const;
  std::int64_t rows() const;
  std::int64_t cols() const;
  /// The mapped elements, 64-byte aligned, row-major, dense.
  std::byte* data();
  /// Rounds a block to the file's dtype (to nearest, ties to even; overflow to infinity, or to NaN
  /// for f8_e4m3, which has none) and stores it. T is float or double.
  template <class T>
  void write_block(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                   const T* in, std::int64_t ld_in);
  /// What has been written so far, as an input (for verification).
  FileMatrix as_input() const;
  /// Lets the kernel write these rows back and drop them from memory.
  void release_rows(std::int64_t first, std::int64_t count);
  /// Syncs and renames. Throws Error(kOutputFailure); then the target is as it was.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Removes every temporary of this process; async-signal-safe.
void remove_temporaries() noexcept;

}  // namespace tessera::io
