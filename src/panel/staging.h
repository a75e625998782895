// Blocks between files and device memory through two page-locked buffers of fixed size.
#pragma once

#include <array>
#include <cstdint>

#include "panel/device_resources.h"
#include "panel/panel_io.h"

namespace tessera::panel {

/// While the device copies one buffer, the host fills or empties the other. A buffer is used again
/// only after the event that follows its last copy.
template <class T>
class Staging {
 public:
  /// Buffers of at most `bytes`.
  Staging(PanelDevice& device, std::int64_t bytes, Transfer transfer);

  /// Enqueues the copy of a block of `file` to dst (leading dimension ld) on `stream`, and returns
  /// when the file has been read.
  void upload(const io::FileMatrix& file, const Block& block, T* dst, std::int64_t ld,
              void* stream);
  /// Copies src to a block of C on `stream`, and returns when it is stored.
  void download(const T* src, std::int64_t ld, io::OutputMatrix& out, const Block& block,
                void* stream);

 private:
  struct Buffer {
    PinnedMemory memory;
    DeviceEvent copied;
    bool busy = false;
    T* data() const { return static_cast<T*>(memory.get()); }
  };
  /// The buffer that was used longest ago, free to use.
  Buffer& next();
  void in_use(Buffer& buffer, void* stream);
  template <class Visit>
  void for_each_chunk(const Block& block, const Visit& visit) const;

  PanelDevice& device_;
  std::int64_t elements_;
  Transfer transfer_;
  std::array<Buffer, 2> buffers_;
  std::size_t turn_ = 0;
};

}  // namespace tessera::panel
