// Memory of the device: allocations and variables, and what is known of their bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simt/run/cell.h"

namespace tessera::simt {

/// What is known of each byte.
enum ByteFlag : std::uint8_t { kInitialised = 1, kWrittenNow = 2 };

struct Region {
  enum class Kind { kDevice, kManaged, kPinned, kVariable };

  std::uintptr_t low = 0, high = 0;
  Kind kind = Kind::kDevice;
  std::string name;  ///< of a variable, or "allocation 2"
  int number = 0;
  bool is_released = false;
  std::uint8_t* flags = nullptr;  ///< one per byte
  std::vector<Shadow> shadows;    ///< one a worker, made at its first access

  std::size_t bytes() const { return high - low; }
};

/// All regions of the device. Only the host side changes it, between launches.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Bytes that are poison (NaN as floats), between zones that a small overrun lands in.
  /// Null when there is no memory.
  void* allocate(std::size_t bytes, Region::Kind kind);
  /// False when p is no allocation's beginning.
  bool release(void* p);
  void add_variable(std::uintptr_t low, std::size_t bytes, std::string name);

  /// The live region that holds p, or null.
  Region* find(std::uintptr_t p);
  /// The region whose zone holds p or that was released there, else the closest; null without any.
  Region* near(std::uintptr_t p);
  /// p may be read and written without harm although it is in no region.
  bool is_zone(std::uintptr_t p) const;
  /// Reads of these bytes are defined from now on.
  void mark_initialised(void* p, std::size_t bytes);
  /// Offset of the first byte of [p, p+bytes) that was never written; bytes when all were.
  std::size_t first_uninitialised(const void* p, std::size_t bytes);

  std::map<std::uintptr_t, std::unique_ptr<Region>>& regions() { return regions_; }
  /// The program's own image: constants of the compiler's, which have no name.
  std::uintptr_t image_low = 0, image_high = 0;
  /// Counts changes of content, and of allocations.
  void changed_by_launch() { ++version_; }
  void changed_by_host() { ++version_, ++host_version_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t host_version() const { return host_version_; }

  static constexpr std::size_t kZone = std::size_t{1} << 20;

 private:
  std::map<std::uintptr_t, std::unique_ptr<Region>> regions_;
  int count_ = 0;
  std::uint64_t version_ = 0, host_version_ = 0;
};

}  // namespace tessera::simt
