#include "simt/report/line_table.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include <memory>

namespace tessera::simt {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct EndDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

// Far enough apart for any kernel.
constexpr std::uint64_t kSectionSpan = std::uint64_t{1} << 32;
constexpr int kMaxInlineDepth = 100;  // a corrupt table may lead in circles

bool is_toolkit(const std::string& file) {
  return file.rfind("/usr/", 0) == 0 || file.find("/targets/") != std::string::npos ||
         file.find("/site-packages/") != std::string::npos;
}

std::optional<SourceLine> source_line(Dwarf_Line* line) {
  const char* file = dwarf_linesrc(line, nullptr, nullptr);
  int number = 0;
  if (file == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return std::nullopt;
  return SourceLine{file, number};
}

std::optional<SourceLine> user_line(Dwarf_Lines* lines, Dwarf_Line* line) {
  std::optional<SourceLine> found = source_line(line);
  for (int depth = 0; found && is_toolkit(found->file) && depth < kMaxInlineDepth; ++depth) {
    line = dwarf_linecontext(lines, line);
    if (line == nullptr) break;
    found = source_line(line);
  }
  return found;
}

}  // namespace

LineTable::LineTable(ElfImage& image) {
  const ElfSection* lines = image.find(".debug_line");
  if (lines == nullptr || !lines->has_bytes || lines->size == 0) return;
  place_sections(image);

  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(image.bytes().data(), image.bytes().size()));
  if (!elf) return;
  const std::unique_ptr<Dwarf, EndDwarf> dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
  if (!dwarf) return;

  Dwarf_Off at = 0, next = 0;
  Dwarf_CU* unit = nullptr;
  Dwarf_Files* files = nullptr;
  Dwarf_Lines* table = nullptr;
  std::size_t file_count = 0, count = 0;
  while (dwarf_next_lines(dwarf.get(), at, &next, &unit, &files, &file_count, &table, &count) ==
         0) {
    for (std::size_t i = 0; i < count; ++i) {
      Dwarf_Line* line = dwarf_onesrcline(table, i);
      Dwarf_Addr address = 0;
      if (line == nullptr || dwarf_lineaddr(line, &address) != 0) continue;
      // Of several rows for one address the last holds the innermost inlined call.
      if (const auto found = user_line(table, line)) rows_[address] = *found;
    }
    if (next <= at) break;
    at = next;
  }
}

// The table's sequences all begin at address 0 and have a relocation to their kernel's section.
// Each section is given addresses of its own, in the order of the sequences, because the library
// sorts rows by address and finds inlined calls by a row's number.
void LineTable::place_sections(ElfImage& image) {
  const ElfSection* lines = image.find(".debug_line");
  struct Place {
    unsigned section;
    std::uint64_t in_section;
  };
  std::map<std::uint64_t, Place> places;  // by offset in .debug_line
  // Either kind occurs: with the addend beside the place it belongs to, or in it.
  for (const bool has_addend : {true, false}) {
    const ElfSection* relocations = image.find(has_addend ? ".rela.debug_line" : ".rel.debug_line");
    if (relocations == nullptr || !relocations->has_bytes) continue;
    const std::uint64_t size = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::uint64_t i = 0; i + size <= relocations->size; i += size) {
      const std::uint64_t offset = image.u64(*relocations, i);
      const std::uint64_t symbol = ELF64_R_SYM(image.u64(*relocations, i + 8));
      const std::uint64_t addend =
          has_addend ? image.u64(*relocations, i + 16) : image.u64(*lines, offset);
      if (symbol >= image.symbols().size()) image.fail("has a relocation to no symbol");
      const ElfSymbol& target = image.symbols()[symbol];
      places[offset] = {target.section, target.value + addend};
    }
  }
  for (const auto& [offset, place] : places) {
    const std::uint64_t base =
        base_.try_emplace(place.section, (base_.size() + 1) * kSectionSpan).first->second;
    image.put_u64(*lines, offset, base + place.in_section);
  }
}

std::optional<SourceLine> LineTable::find(unsigned section, std::uint64_t offset) const {
  const auto base = base_.find(section);
  if (base == base_.end()) return std::nullopt;
  auto row = rows_.upper_bound(base->second + offset);
  if (row == rows_.begin()) return std::nullopt;
  --row;
  if (row->first < base->second) return std::nullopt;
  return row->second;
}

}  // namespace tessera::simt
