#include "panel/staging.h"

#include <algorithm>
#include <optional>

namespace tessera::panel {

using std::int64_t;

template <class T>
Staging<T>::Staging(PanelDevice& device, int64_t bytes, Transfer transfer)
    : device_(device),
      elements_(std::max<int64_t>(1, bytes / static_cast<int64_t>(sizeof(T)))),
      transfer_(std::move(transfer)) {
  for (Buffer& buffer : buffers_) {
    buffer.memory = pinned_memory(device, elements_ * static_cast<int64_t>(sizeof(T)));
    buffer.copied = device_event(device);
  }
}

template <class T>
typename Staging<T>::Buffer& Staging<T>::next() {
  Buffer& buffer = buffers_[turn_++ % buffers_.size()];
  if (buffer.busy) device_.synchronise_event(buffer.copied.get());
  buffer.busy = false;
  return buffer;
}

template <class T>
void Staging<T>::in_use(Buffer& buffer, void* stream) {
  device_.record(buffer.copied.get(), stream);
  buffer.busy = true;
}

/// Whole rows as far as they fit, else parts of one row.
template <class T>
template <class Visit>
void Staging<T>::for_each_chunk(const Block& block, const Visit& visit) const {
  const int64_t cols = std::min(block.cols, elements_);
  const int64_t rows = std::max<int64_t>(1, elements_ / cols);
  for (int64_t i = 0; i < block.rows; i += rows) {
    for (int64_t j = 0; j < block.cols; j += cols) {
      visit(Block{i, j, std::min(rows, block.rows - i), std::min(cols, block.cols - j)});
    }
  }
}

template <class T>
void Staging<T>::upload(const io::FileMatrix& file, const Block& block, T* dst, int64_t ld,
                        void* stream) {
  for_each_chunk(block, [&](const Block& chunk) {
    Buffer& buffer = next();
    const Block source{block.row + chunk.row, block.col + chunk.col, chunk.rows, chunk.cols};
    load_block(file, source, buffer.data(), chunk.cols, transfer_);
    const auto width = static_cast<std::size_t>(chunk.cols) * sizeof(T);
    device_.copy_to_device(dst + chunk.row * ld + chunk.col,
                           static_cast<std::size_t>(ld) * sizeof(T), buffer.data(), width, width,
                           static_cast<std::size_t>(chunk.rows), stream);
    in_use(buffer, stream);
  });
}

template <class T>
void Staging<T>::download(const T* src, int64_t ld, io::OutputMatrix& out, const Block& block,
                          void* stream) {
  struct Pending {
    Buffer* buffer;
    Block target;
  };
  std::optional<Pending> pending;
  const auto store = [&] {
    if (!pending) return;
    device_.synchronise_event(pending->buffer->copied.get());
    store_block(out, pending->target, pending->buffer->data(), pending->target.cols, transfer_);
  };
  for_each_chunk(block, [&](const Block& chunk) {
    Buffer& buffer = next();
    const auto width = static_cast<std::size_t>(chunk.cols) * sizeof(T);
    device_.copy_to_host(buffer.data(), width, src + chunk.row * ld + chunk.col,
                         static_cast<std::size_t>(ld) * sizeof(T), width,
                         static_cast<std::size_t>(chunk.rows), stream);
    in_use(buffer, stream);
    store();
    pending =
        Pending{&buffer, {block.row + chunk.row, block.col + chunk.col, chunk.rows, chunk.cols}};
  });
  store();
}

template class Staging<float>;
template class Staging<double>;

}  // namespace tessera::panel
