#include "simt/report/elf_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tessera/error.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

namespace tessera::simt {
namespace {

constexpr unsigned char kEntryFlag = 0x10;  // st_other of a symbol that is a kernel

// A string of a table; what does not end inside the table is cut at its end.
std::string string_at(const std::vector<char>& bytes, std::uint64_t table, std::uint64_t table_size,
                      std::uint64_t at) {
  if (at >= table_size) return "";
  const char* start = bytes.data() + table + at;
  return {start, strnlen(start, table_size - at)};
}

}  // namespace

ElfImage::ElfImage(std::vector<char> bytes, std::string path)
    : bytes_(std::move(bytes)), path_(std::move(path)) {
  Elf64_Ehdr header;
  if (bytes_.size() < sizeof header) fail("is too short for an ELF file");
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) fail("is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_CUDA)
    fail("is not a 64-bit CUDA ELF file");
  // Where the flags keep the architecture moved with version 8 of the ABI (CUDA 13).
  sm_ = static_cast<int>(header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff
                                                            : header.e_flags & 0xff);
  read_sections();
  read_symbols();
}

void ElfImage::fail(const std::string& what) const {
  throw Error(ErrorCode::kBadFile, fmt::format("cubin: {} {}", path_, what));
}

void ElfImage::read_sections() {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  const std::uint64_t count = header.e_shnum;
  if (count == 0) fail("has no sections");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) fail("has section headers of an unknown size");
  if (header.e_shoff > bytes_.size() || count * sizeof(Elf64_Shdr) > bytes_.size() - header.e_shoff)
    fail("is truncated: its section headers lie outside");

  std::vector<Elf64_Shdr> headers(count);
  std::memcpy(headers.data(), bytes_.data() + header.e_shoff, count * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& h : headers)
    if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL &&
        (h.sh_offset > bytes_.size() || h.sh_size > bytes_.size() - h.sh_offset))
      fail("is truncated: a section lies outside");
  if (header.e_shstrndx >= count || headers[header.e_shstrndx].sh_type != SHT_STRTAB)
    fail("has no section names");

  const Elf64_Shdr& names = headers[header.e_shstrndx];
  for (const Elf64_Shdr& h : headers) {
    ElfSection section;
    section.name = string_at(bytes_, names.sh_offset, names.sh_size, h.sh_name);
    section.offset = h.sh_offset;
    section.size = h.sh_size;
    section.has_bytes = h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL;
    section.info = h.sh_info;
    sections_.push_back(std::move(section));
  }
}

void ElfImage::read_symbols() {
  const ElfSection* table = find(".symtab");
  const ElfSection* names = find(".strtab");
  if (table == nullptr || names == nullptr || !table->has_bytes || !names->has_bytes) return;
  for (std::uint64_t i = 0; i < table->size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym s;
    std::memcpy(&s, at(*table, i * sizeof s, sizeof s), sizeof s);
    ElfSymbol symbol;
    symbol.name = string_at(bytes_, names->offset, names->size, s.st_name);
    symbol.value = s.st_value;
    symbol.size = s.st_size;
    symbol.section = s.st_shndx;
    symbol.is_kernel = ELF64_ST_TYPE(s.st_info) == STT_FUNC && (s.st_other & kEntryFlag) != 0;
    symbols_.push_back(std::move(symbol));
  }
}

const ElfSection* ElfImage::find(const std::string& name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const char* ElfImage::at(const ElfSection& section, std::uint64_t offset,
                         std::uint64_t size) const {
  if (!section.has_bytes || offset > section.size || size > section.size - offset)
    fail("is truncated: " + section.name + " ends early");
  return bytes_.data() + section.offset + offset;
}

std::uint8_t ElfImage::u8(const ElfSection& section, std::uint64_t offset) const {
  return static_cast<std::uint8_t>(*at(section, offset, 1));
}
std::uint32_t ElfImage::u32(const ElfSection& section, std::uint64_t offset) const {
  std::uint32_t value;
  std::memcpy(&value, at(section, offset, sizeof value), sizeof value);
  return value;
}
std::uint64_t ElfImage::u64(const ElfSection& section, std::uint64_t offset) const {
  std::uint64_t value;
  std::memcpy(&value, at(section, offset, sizeof value), sizeof value);
  return value;
}
void ElfImage::put_u64(const ElfSection& section, std::uint64_t offset, std::uint64_t value) {
  std::memcpy(const_cast<char*>(at(section, offset, sizeof value)), &value, sizeof value);
}

}  // namespace tessera::simt
