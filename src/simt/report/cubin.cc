// What a cubin says of its kernels. NVIDIA does not document the sections .nv.*; their layout was
// read from what cuobjdump prints of them.
#include "simt/report/cubin.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "simt/report/elf_image.h"
#include "simt/report/line_table.h"
#include "simt/report/sass.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr std::int64_t kReservedShared = 1024;  // in .nv.shared.* where .nv.shared.reserved.0 is

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::kBadFile, "cubin: cannot open " + path);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) throw Error(ErrorCode::kBadFile, "cubin: cannot read " + path);
  return bytes;
}

// "void (anonymous namespace)::tiled<16>(float*, int)" to "(anonymous namespace)::tiled<16>".
std::string without_arguments(const std::string& name) {
  static const std::string kAnonymous = "(anonymous namespace)";
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      i += kAnonymous.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == ' ') {
      start = i + 1;
    } else if (depth == 0 && name[i] == '(') {
      return name.substr(start, i - start);
    }
  }
  return name;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? without_arguments(text.get()) : name;
}

// One record of a section .nv.info*: a format, an attribute, two bytes of value or size, payload.
struct InfoRecord {
  int attribute = 0;
  std::uint64_t payload = 0, size = 0;  // in the section
};
constexpr int kWithPayload = 4;
constexpr int kFrameSize = 0x11, kRegisterCount = 0x2f, kAnnotations = 0x55;
constexpr std::uint32_t kSpillAnnotation = 1;

std::vector<InfoRecord> info_records(const ElfImage& image, const ElfSection& section) {
  std::vector<InfoRecord> records;
  if (!section.has_bytes) return records;
  for (std::uint64_t at = 0; at + 4 <= section.size;) {
    InfoRecord record;
    const int format = image.u8(section, at);
    record.attribute = image.u8(section, at + 1);
    record.payload = at + 4;
    if (format == kWithPayload)
      record.size = image.u8(section, at + 2) | image.u8(section, at + 3) << 8;
    if (record.size > section.size - record.payload)
      image.fail("is truncated: " + section.name + " ends early");
    records.push_back(record);
    at = record.payload + record.size;
  }
  return records;
}

// A number that a function has in .nv.info, where records name their function by symbol.
int function_value(const ElfImage& image, int attribute, std::size_t symbol) {
  const ElfSection* section = image.find(".nv.info");
  if (section == nullptr) return 0;
  for (const InfoRecord& record : info_records(image, *section))
    if (record.attribute == attribute && record.size >= 8 &&
        image.u32(*section, record.payload) == symbol)
      return static_cast<int>(image.u32(*section, record.payload + 4) & 0x7fffffff);
  return 0;
}

std::vector<SassAccess> accesses_at(const ElfImage& image, const ElfSection& text,
                                    std::uint64_t offset) {
  if (offset % kSassBytes != 0 || text.size < kSassBytes || offset > text.size - kSassBytes)
    return {};
  return sass_accesses(image.u64(text, offset), image.u64(text, offset + 8), image.sm());
}

// Bytes that the kernel's instructions store to spill registers, as ptxas counts them: each store
// instruction once.
int spill_bytes(const ElfImage& image, const std::string& name, const ElfSection& text) {
  const ElfSection* info = image.find(".nv.info." + name);
  if (info == nullptr) return 0;
  std::int64_t bytes = 0;
  for (const InfoRecord& record : info_records(image, *info)) {
    if (record.attribute != kAnnotations) continue;
    for (std::uint64_t at = 0; at + 8 <= record.size; at += 8) {
      if (image.u32(*info, record.payload + at) != kSpillAnnotation) break;
      for (const SassAccess& a :
           accesses_at(image, text, image.u32(*info, record.payload + at + 4)))
        if (a.memory == Memory::kLocal && a.is_write) bytes += a.bytes;
    }
  }
  return static_cast<int>(bytes);
}

std::int64_t static_shared_bytes(const ElfImage& image, const std::string& name) {
  const ElfSection* section = image.find(".nv.shared." + name);
  if (section == nullptr) return 0;
  const std::int64_t bytes = static_cast<std::int64_t>(section->size & 0x7fffffff);
  const bool reserved = image.find(".nv.shared.reserved.0") != nullptr;
  return reserved ? std::max<std::int64_t>(bytes - kReservedShared, 0) : bytes;
}

std::vector<Compiled> kernels_of(const ElfImage& image) {
  std::vector<Compiled> kernels;
  for (std::size_t i = 0; i < image.symbols().size(); ++i) {
    const ElfSymbol& symbol = image.symbols()[i];
    if (!symbol.is_kernel) continue;
    if (symbol.section >= image.sections().size()) image.fail("has a kernel in no section");
    Compiled kernel;
    kernel.kernel = demangled(symbol.name);
    if (image.sm() > 0) kernel.architecture = fmt::format("sm_{}", image.sm());
    kernel.registers = function_value(image, kRegisterCount, i);
    kernel.stack_bytes = function_value(image, kFrameSize, i);
    kernel.spill_bytes = spill_bytes(image, symbol.name, image.sections()[symbol.section]);
    kernel.static_shared_bytes = static_shared_bytes(image, symbol.name);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Numbers the instructions of a section by runs: those of one run always follow one another.
std::vector<int> runs_of(const ElfImage& image, const ElfSection& text) {
  const std::uint64_t count = text.size / kSassBytes;
  std::vector<bool> begins(count + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const SassBranch branch = sass_branch(image.u64(text, i * kSassBytes),
                                          image.u64(text, i * kSassBytes + 8), image.sm());
    if (!branch.ends_run) continue;
    begins[i + 1] = true;
    if (!branch.relative) continue;
    const std::int64_t target =
        static_cast<std::int64_t>(i) + 1 + *branch.relative / static_cast<std::int64_t>(kSassBytes);
    if (target >= 0 && target < static_cast<std::int64_t>(count)) begins[target] = true;
  }
  std::vector<int> runs(count);
  for (std::uint64_t i = 1; i < count; ++i) runs[i] = runs[i - 1] + (begins[i] ? 1 : 0);
  return runs;
}

/// What a line's accesses are compiled to, while they are gathered.
struct Gathered {
  CompiledWidths widths;
  int run = -1;
  bool is_together = true;  // all in that run, without conditions
};

std::vector<CompiledWidths> widths_of(ElfImage& image) {
  const LineTable lines(image);
  std::map<std::tuple<std::string, std::string, int, bool, bool>, Gathered> found;
  for (unsigned i = 0; i < image.sections().size(); ++i) {
    const ElfSection& text = image.sections()[i];
    constexpr std::string_view kText = ".text.";
    if (!text.has_bytes || text.name.rfind(kText, 0) != 0) continue;
    const std::string kernel = demangled(text.name.substr(kText.size()));
    const std::vector<int> runs = runs_of(image, text);
    for (std::uint64_t at = 0; at + kSassBytes <= text.size; at += kSassBytes) {
      for (const SassAccess& a : accesses_at(image, text, at)) {
        if (a.memory == Memory::kLocal || a.bytes == 0) continue;
        const auto line = lines.find(i, at);
        if (!line) continue;
        const bool is_shared = a.memory == Memory::kShared;
        const std::string file = base_name(line->file);
        Gathered& g = found[{kernel, file, line->line, is_shared, a.is_write}];
        const int run = runs[at / kSassBytes];
        g.is_together = g.is_together && (g.run < 0 || g.run == run) &&
                        sass_is_unconditional(image.u64(text, at));
        g.run = run;
        CompiledWidths& w = g.widths;
        w.kernel = kernel, w.file = file, w.line = line->line;
        w.is_shared = is_shared, w.is_write = a.is_write;
        w.bytes = std::max(w.bytes, a.bytes);
        ++w.count;
        w.sequence.push_back(a.bytes);
      }
    }
  }
  std::vector<CompiledWidths> all;
  for (auto& [key, g] : found) {
    std::vector<int>& sequence = g.widths.sequence;
    const bool is_mixed = std::any_of(sequence.begin(), sequence.end(),
                                      [most = g.widths.bytes](int bytes) { return bytes != most; });
    if (!g.is_together || !is_mixed) sequence.clear();
    all.push_back(std::move(g.widths));
  }
  return all;
}

}  // namespace

Cubin read_cubin(const std::string& path) { return read_cubin(read_bytes(path), path); }

Cubin read_cubin(std::vector<char> bytes, const std::string& name) {
  ElfImage image(std::move(bytes), name);
  Cubin cubin;
  cubin.kernels = kernels_of(image);
  cubin.widths = widths_of(image);
  return cubin;
}

}  // namespace tessera::simt
