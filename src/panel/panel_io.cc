#include "panel/panel_io.h"

#include <algorithm>

#include "core/threads.h"
#include "tessera/half.h"

namespace tessera::panel {
namespace {

using std::int64_t;

// A page fault in a mapped file brings in up to 64 KiB around it (Linux, fault_around_bytes), so a
// part of a run may make this much more resident, half on either side.
constexpr int64_t kAroundBytes = 128 << 10;

// Fewer are widened sooner than a second thread wakes.
constexpr int64_t kElementsPerThread = 64 << 10;

/// Runs (rows of a row-major file, columns of a column-major one) whose parts of `part_bytes` stay
/// within the window.
int64_t runs_per_window(int64_t part_bytes, int64_t run_bytes, int64_t window_bytes) {
  const int64_t touched = std::max<int64_t>(1, std::min(run_bytes, part_bytes + kAroundBytes));
  return std::max<int64_t>(1, window_bytes / touched);
}

/// Elements of a run that may be touched before its pages are released.
int64_t longest_run(std::size_t element_bytes, const Transfer& transfer) {
  return std::max<int64_t>(1, transfer.window_bytes / static_cast<int64_t>(element_bytes));
}

/// One part of a block, whose runs are no longer than a window.
template <class T>
void load_part(const io::FileMatrix& file, const Block& block, T* out, int64_t ld,
               const Transfer& transfer) {
  const bool row_major = file.layout == Layout::kRowMajor;
  const int64_t first = row_major ? block.row : block.col;
  const int64_t runs = row_major ? block.rows : block.cols;
  const int64_t length = row_major ? block.cols : block.rows;
  const auto size = static_cast<int64_t>(size_of(file.dtype));
  const int64_t count = runs_per_window(length * size, file.ld() * size, transfer.window_bytes);
  for (int64_t start = 0; start < runs; start += count) {
    const int64_t window = std::min(count, runs - start);
    const int64_t worthwhile = 1 + window * length / kElementsPerThread;
    const int64_t tasks = std::min<int64_t>({transfer.threads, window, worthwhile});
    parallel_for(transfer.threads, tasks, [&](int64_t task, int) {
      const int64_t from = start + window * task / tasks;
      const int64_t part = start + window * (task + 1) / tasks - from;
      if (row_major) {
        io::read_block(file, block.row + from, block.col, part, block.cols, out + from * ld, ld);
      } else {
        io::read_block(file, block.row, block.col + from, block.rows, part, out + from, ld);
      }
    });
    io::release_pages(file, first + start, window);
    if (transfer.tick) transfer.tick();
  }
  // Windows share pages at their ends, and faults reach beyond them.
  const int64_t all_runs = row_major ? file.rows : file.cols;
  const int64_t margin = kAroundBytes / std::max<int64_t>(1, file.ld() * size) + 1;
  const int64_t from = std::max<int64_t>(0, first - margin);
  io::release_pages(file, from, std::min(all_runs, first + runs + margin) - from);
}

}  // namespace

template <class T>
void load_block(const io::FileMatrix& file, const Block& block, T* out, int64_t ld,
                const Transfer& transfer) {
  const bool row_major = file.layout == Layout::kRowMajor;
  const int64_t length = row_major ? block.cols : block.rows;
  const int64_t longest = longest_run(size_of(file.dtype), transfer);
  for (int64_t at = 0; at < length; at += longest) {
    Block part = block;
    (row_major ? part.col : part.row) += at;
    (row_major ? part.cols : part.rows) = std::min(longest, length - at);
    load_part(file, part, out + (row_major ? at : at * ld), ld, transfer);
  }
}

template <class T>
void store_block(io::OutputMatrix& file, const Block& block, const T* in, int64_t ld,
                 const Transfer& transfer) {
  const auto size = static_cast<int64_t>(size_of(file.dtype()));
  const int64_t longest = longest_run(size_of(file.dtype()), transfer);
  for (int64_t at = 0; at < block.cols; at += longest) {
    const int64_t cols = std::min(longest, block.cols - at);
    const int64_t count = runs_per_window(cols * size, file.cols() * size, transfer.window_bytes);
    for (int64_t start = 0; start < block.rows; start += count) {
      const int64_t rows = std::min(count, block.rows - start);
      file.write_block(block.row + start, block.col + at, rows, cols, in + start * ld + at, ld);
      if (transfer.release_output) file.release_rows(block.row + start, rows);
      if (transfer.tick) transfer.tick();
    }
  }
}

template void load_block<float>(const io::FileMatrix&, const Block&, float*, int64_t,
                                const Transfer&);
template void load_block<double>(const io::FileMatrix&, const Block&, double*, int64_t,
                                 const Transfer&);
template void load_block<BFloat16>(const io::FileMatrix&, const Block&, BFloat16*, int64_t,
                                   const Transfer&);
template void load_block<Float16>(const io::FileMatrix&, const Block&, Float16*, int64_t,
                                  const Transfer&);
template void store_block<float>(io::OutputMatrix&, const Block&, const float*, int64_t,
                                 const Transfer&);
template void store_block<double>(io::OutputMatrix&, const Block&, const double*, int64_t,
                                  const Transfer&);

}  // namespace tessera::panel
