#include "simt/run/symbols.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tessera/error.h"

namespace tessera::simt {
std::string demangle(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string short_name(const std::string& demangled) {
  std::string s = demangled;
  int depth = 0;
  std::size_t end = s.size();
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '<') ++depth;
    if (s[i] == '>') --depth;
    if (s[i] == '(' && depth == 0 && s.compare(i, 21, "(anonymous namespace)") != 0) {
      end = i;
      break;
    }
  }
  s.resize(end);
  depth = 0;
  for (std::size_t i = s.size(); i-- > 0;) {
    if (s[i] == '>') ++depth;
    if (s[i] == '<') --depth;
    if (depth == 0 && (s[i] == ':' || s[i] == ' ')) return s.substr(i + 1);
  }
  return s;
}

std::string comparable_name(const std::string& demangled) {
  std::string name = short_name(demangled);
  std::erase(name, ' ');
  return name;
}

struct Symbols::Dwarf {
  int file = -1;
  ::Dwarf* debug = nullptr;
  std::vector<Dwarf_Die> units;

  ~Dwarf() {
    if (debug != nullptr) dwarf_end(debug);
    if (file >= 0) close(file);
  }
};

Symbols::Symbols(const std::string& image, std::string own_folder, std::string source_path)
    : dwarf_(std::make_unique<Dwarf>()),
      own_folder_(std::move(own_folder)),
      source_path_(std::move(source_path)) {
  std::error_code ignored;
  real_source_path_ = std::filesystem::weakly_canonical(source_path_, ignored).string();
  elf_version(EV_CURRENT);
  dwarf_->file = open(image.c_str(), O_RDONLY | O_CLOEXEC);
  if (dwarf_->file < 0) throw Error(ErrorCode::kBadFile, "check: cannot read " + image);
  dwarf_->debug = dwarf_begin(dwarf_->file, DWARF_C_READ);
  if (dwarf_->debug != nullptr) {
    Dwarf_Off offset = 0, next = 0;
    std::size_t header = 0;
    while (dwarf_nextcu(dwarf_->debug, offset, &next, &header, nullptr, nullptr, nullptr) == 0) {
      Dwarf_Die unit;
      if (dwarf_offdie(dwarf_->debug, offset + header, &unit) != nullptr) {
        dwarf_->units.push_back(unit);
      }
      offset = next;
    }
  }
  Elf* elf = dwarf_->debug != nullptr ? dwarf_getelf(dwarf_->debug) : nullptr;
  for (Elf_Scn* section = nullptr; elf != nullptr;) {
    section = elf_nextscn(elf, section);
    if (section == nullptr) break;
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const int count =
        header.sh_entsize == 0 ? 0 : static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; data != nullptr && i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || symbol.st_size == 0) continue;
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (type != STT_FUNC && type != STT_OBJECT) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      symbols_.push_back({demangle(name == nullptr ? "" : name), symbol.st_value, symbol.st_size,
                          type == STT_FUNC});
    }
  }
  std::sort(symbols_.begin(), symbols_.end(),
            [](const Symbol& a, const Symbol& b) { return a.offset < b.offset; });
}

Symbols::~Symbols() = default;

const Symbol* Symbols::find(std::uint64_t offset) const {
  auto it = std::upper_bound(symbols_.begin(), symbols_.end(), offset,
                             [](std::uint64_t o, const Symbol& s) { return o < s.offset; });
  if (it == symbols_.begin()) return nullptr;
  --it;
  return offset < it->offset + it->bytes ? &*it : nullptr;
}

std::string Symbols::spelled(const std::string& file) const {
  std::error_code ignored;
  const std::string real = std::filesystem::weakly_canonical(file, ignored).string();
  if (real == real_source_path_) return source_path_;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  return real.compare(0, here.size(), here) == 0 ? real.substr(here.size()) : file;
}

const Place& Symbols::place(std::uint32_t offset) {
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(offset);
  if (it != known_.end()) return it->second;
  return known_.emplace(offset, look_up(offset)).first->second;
}

Place Symbols::look_up(std::uint64_t offset) {
  Place place;
  if (const Symbol* symbol = find(offset)) place.function = short_name(symbol->name);
  for (Dwarf_Die& unit : dwarf_->units) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit, offset);
    if (line == nullptr) continue;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    dwarf_lineno(line, &place.line);
    dwarf_linecol(line, &place.column);
    place.file = file == nullptr ? "" : file;
    if (place.file.compare(0, own_folder_.size(), own_folder_) == 0) {
      // In a header of ours: the line is the innermost call outside of them.
      Dwarf_Die* scopes = nullptr;
      Dwarf_Files* files = nullptr;
      std::size_t file_count = 0;
      dwarf_getsrcfiles(&unit, &files, &file_count);
      const int count = dwarf_getscopes(&unit, offset, &scopes);
      for (int i = 0; i < count; ++i) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
        Dwarf_Attribute attribute;
        Dwarf_Word call_file = 0, call_line = 0, call_column = 0;
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &call_file);
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &call_line);
        dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_column, &attribute), &call_column);
        const char* name = dwarf_filesrc(files, call_file, nullptr, nullptr);
        place.file = name == nullptr ? "" : name;
        place.line = static_cast<int>(call_line);
        place.column = static_cast<int>(call_column);
        if (place.file.compare(0, own_folder_.size(), own_folder_) != 0) break;
      }
      std::free(scopes);
    }
    place.file = spelled(place.file);
    break;
  }
  return place;
}

}  // namespace tessera::simt
