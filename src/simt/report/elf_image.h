// A cubin as an ELF file in memory. Every range is checked against the file before it is read, so
// that a truncated or corrupt file ends in an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::simt {

struct ElfSection {
  std::string name;
  std::uint64_t offset = 0, size = 0;  ///< in the file; an empty section has a size of its own
  bool has_bytes = true;               ///< false: NOBITS
  std::uint32_t info = 0;
};

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0, size = 0;
  unsigned section = 0;
  bool is_kernel = false;
};

class ElfImage {
 public:
  /// Throws Error(kBadFile), naming `path`, for what is not a CUDA ELF file.
  ElfImage(std::vector<char> bytes, std::string path);

  int sm() const { return sm_; }  ///< 90 for sm_90; 0 when the file does not say
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  const ElfSection* find(const std::string& name) const;

  /// Little-endian numbers inside a section; out of its range: Error(kBadFile).
  std::uint32_t u32(const ElfSection& section, std::uint64_t at) const;
  std::uint64_t u64(const ElfSection& section, std::uint64_t at) const;
  std::uint8_t u8(const ElfSection& section, std::uint64_t at) const;
  void put_u64(const ElfSection& section, std::uint64_t at, std::uint64_t value);

  std::vector<char>& bytes() { return bytes_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const char* at(const ElfSection& section, std::uint64_t offset, std::uint64_t size) const;
  void read_sections();
  void read_symbols();

  std::vector<char> bytes_;
  std::string path_;
  int sm_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
};

}  // namespace tessera::simt
