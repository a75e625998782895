// Cubins made by hand: what is read from them, and that none can do harm; occupancy.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "simt/report/cubin.h"
#include "simt/report/sass.h"
#include "support/errors.h"

namespace tessera::simt::test {
namespace {

using tessera::test::error_of;

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A cubin with one kernel: sections in the order in which they are added.
class CubinBuilder {
 public:
  int add(const std::string& name, std::uint32_t type, const std::string& bytes,
          std::uint64_t size = 0, std::uint32_t info = 0) {
    sections_.push_back({name, type, bytes, size == 0 ? bytes.size() : size, info});
    return static_cast<int>(sections_.size());  // section 0 is the empty one
  }

  std::string build(unsigned abi, unsigned flags) {
    std::string names(1, '\0'), body;
    std::vector<Elf64_Shdr> headers(1, Elf64_Shdr{});
    const std::size_t start = sizeof(Elf64_Ehdr);
    sections_.push_back({".shstrtab", SHT_STRTAB, "", 0, 0});
    std::vector<std::uint32_t> name_at;
    for (const Section& s : sections_) {
      name_at.push_back(static_cast<std::uint32_t>(names.size()));
      names += s.name + '\0';
    }
    sections_.back().bytes = names;
    sections_.back().size = names.size();
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Section& s = sections_[i];
      while (body.size() % 16 != 0) body += '\0';
      Elf64_Shdr h{};
      h.sh_name = name_at[i];
      h.sh_type = s.type;
      h.sh_offset = start + body.size();
      h.sh_size = s.size;
      h.sh_info = s.info;
      headers.push_back(h);
      body += s.bytes;
    }
    Elf64_Ehdr e{};
    std::memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(abi);
    e.e_type = ET_EXEC;
    e.e_machine = 190;
    e.e_version = EV_CURRENT;
    e.e_flags = flags;
    e.e_ehsize = sizeof e;
    e.e_shentsize = sizeof(Elf64_Shdr);
    e.e_shnum = static_cast<Elf64_Half>(headers.size());
    e.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
    e.e_shoff = start + body.size();
    std::string file;
    append(file, e);
    file += body;
    for (const Elf64_Shdr& h : headers) append(file, h);
    return file;
  }

 private:
  struct Section {
    std::string name;
    std::uint32_t type;
    std::string bytes;
    std::uint64_t size;
    std::uint32_t info;
  };
  std::vector<Section> sections_;
};

constexpr std::uint64_t width_bits(int code) { return static_cast<std::uint64_t>(code) << 9; }

std::string code() {
  std::string text;
  for (const auto& [opcode, code] : {std::pair<int, int>{0x981, 4},  // 0x00 LDG
                                     {0x387, 5},                     // 0x10 STL.64, a spill
                                     {0x388, 4},                     // 0x20 STS
                                     {0x984, 6},                     // 0x30 LDS.128
                                     {0x984, 4},                     // 0x40 LDS
                                     {0x986, 6},                     // 0x50 STG.128
                                     {0xfae, 6}}) {                  // 0x60 LDGSTS.128
    append(text, static_cast<std::uint64_t>(opcode) | 0xabcd0000);
    append(text, width_bits(code) | 0xfe00000000000000);
  }
  return text;
}

// DWARF 2: lines 3, 4 and 7 of "k.cu" for instructions from 0x00, 0x20 and 0x50; the last of them
// is 9 of a toolkit header, called from line 7.
std::string line_program(std::size_t* address_at) {
  std::string header;
  header += '\x01';  // smallest instruction
  header += '\x01';  // is_stmt
  header += '\xfb';  // line base -5
  header += '\x0e';  // line range
  header += '\x0a';  // opcode base
  header += std::string("\0\1\1\1\1\0\0\0\1", 9);
  header += std::string("/usr/cuda/include\0src\0\0", 23);
  header += std::string("k.cu\0\2\0\0", 8) + std::string("pipe.h\0\1\0\0", 10) + '\0';
  std::string program;
  program += std::string("\0\x09\x02", 3);
  const std::size_t address = program.size();
  program += std::string(8, '\0');
  const auto advance_pc = [&](char by) { program += std::string("\x02") + by; };
  const auto advance_line = [&](char by) { program += std::string("\x03") + by; };
  advance_line(2);
  program += '\x01';  // row: 0x00, line 3
  advance_pc(0x20);
  advance_line(1);
  program += '\x01';  // 0x20, line 4
  advance_pc(0x30);
  advance_line(3);
  program += '\x01';  // 0x50, line 7: the third row
  advance_pc(0x10);
  program += '\x01';                                // 0x60, line 7: the fourth row
  program += std::string("\x04\x02", 2);            // pipe.h
  program += std::string("\0\x03\x90\x04\x00", 5);  // inlined in the fourth row
  advance_line(2);
  program += '\x01';  // 0x60, line 9 of pipe.h
  advance_pc(0x10);
  program += std::string("\0\x01\x01", 3);
  std::string table;
  const auto length = static_cast<std::uint32_t>(2 + 4 + header.size() + program.size());
  append(table, length);
  append(table, std::uint16_t{2});
  append(table, static_cast<std::uint32_t>(header.size()));
  table += header;
  *address_at = table.size() + address;
  return table + program;
}

std::string record(int attribute, const std::string& payload) {
  std::string r = "\x04";
  r += static_cast<char>(attribute);
  append(r, static_cast<std::uint16_t>(payload.size()));
  return r + payload;
}
std::string words(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t v : values) append(bytes, v);
  return bytes;
}

std::string cubin(unsigned sm = 90, bool has_addend = true, const std::string& code = code()) {
  const std::string name = "_Z5tiledILi16EEvPf";
  CubinBuilder b;
  const int text = b.add(".text." + name, SHT_PROGBITS, code);
  b.add(".nv.info." + name, 0x70000000,
        record(0x55, words({1, 0x10})) + std::string("\2\x4c\1\0", 4));
  b.add(".nv.shared." + name, SHT_NOBITS, "", sm >= 90 ? 1024 + 2048 : 2048);
  if (sm >= 90) b.add(".nv.shared.reserved.0", SHT_NOBITS, "");
  const std::string strings = std::string(1, '\0') + name + '\0';
  b.add(".strtab", SHT_STRTAB, strings);
  Elf64_Sym symbol{};
  std::string symbols;
  append(symbols, symbol);
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_other = 0x10;
  symbol.st_shndx = static_cast<Elf64_Half>(text);
  symbol.st_size = code.size();
  append(symbols, symbol);
  b.add(".symtab", SHT_SYMTAB, symbols);
  b.add(".nv.info", 0x70000000, record(0x2f, words({1, 40})) + record(0x11, words({1, 16})));
  std::size_t address_at = 0;
  b.add(".debug_line", SHT_PROGBITS, line_program(&address_at));
  std::string relocation;
  append(relocation, static_cast<std::uint64_t>(address_at));
  append(relocation, ELF64_R_INFO(std::uint64_t{1}, 2));
  if (has_addend) append(relocation, std::uint64_t{0});
  b.add(has_addend ? ".rela.debug_line" : ".rel.debug_line", has_addend ? SHT_RELA : SHT_REL,
        relocation);
  return b.build(8, 0x06000004 | sm << 8);
}

Cubin read(const std::string& bytes) {
  return read_cubin(std::vector<char>(bytes.begin(), bytes.end()), "made.cubin");
}

const CompiledWidths* find(const Cubin& c, int line, bool is_shared, bool is_write) {
  for (const CompiledWidths& w : c.widths)
    if (w.line == line && w.is_shared == is_shared && w.is_write == is_write) return &w;
  return nullptr;
}

TEST(Cubin, KernelFacts) {
  for (const unsigned sm : {80u, 90u, 100u}) {
    const Cubin c = read(cubin(sm));
    ASSERT_EQ(c.kernels.size(), 1u);
    EXPECT_EQ(c.kernels[0].kernel, "tiled<16>");
    EXPECT_EQ(c.kernels[0].architecture, "sm_" + std::to_string(sm));
    EXPECT_EQ(c.kernels[0].registers, 40);
    EXPECT_EQ(c.kernels[0].stack_bytes, 16);
    EXPECT_EQ(c.kernels[0].spill_bytes, 8);
    EXPECT_EQ(c.kernels[0].static_shared_bytes, 2048) << "without the driver's part";
  }
}

TEST(Cubin, WidthsByLine) {
  for (const bool has_addend : {true, false}) {
    const Cubin c = read(cubin(90, has_addend));
    ASSERT_EQ(c.widths.size(), 6u);
    for (const CompiledWidths& w : c.widths) EXPECT_EQ(w.file, "k.cu");
    const auto* loads = find(c, 4, true, false);
    ASSERT_NE(loads, nullptr);
    EXPECT_EQ(loads->bytes, 16) << "the widest of two";
    EXPECT_EQ(loads->count, 2);
    ASSERT_NE(find(c, 3, false, false), nullptr);
    EXPECT_EQ(find(c, 3, false, false)->bytes, 4);
    ASSERT_NE(find(c, 4, true, true), nullptr);
    EXPECT_EQ(find(c, 4, true, true)->bytes, 4);
    ASSERT_NE(find(c, 7, false, true), nullptr);
    EXPECT_EQ(find(c, 7, false, true)->bytes, 16);
    ASSERT_NE(find(c, 7, false, false), nullptr) << "the copy, at the line that called the header";
    ASSERT_NE(find(c, 7, true, true), nullptr);
  }
}

/// The code without conditions, but for a branch from 0x00 to `target`.
std::string code_with_branch(unsigned sm, std::int64_t target) {
  std::string text = code();
  for (std::size_t at = 0; at < text.size(); at += kSassBytes) text[at + 1] |= 0x70;
  const auto distance = static_cast<std::uint64_t>((target - 0x10) / 4);
  const std::uint64_t high_part = sm >= 90 ? distance >> 8 : distance;
  const std::uint64_t low = 0x947 | (sm >= 90 ? (distance & 0xff) << 16 : 0) | high_part << 34;
  const std::uint64_t high = high_part >> 30 & 0x3ffff;
  std::memcpy(text.data(), &low, sizeof low);
  std::memcpy(text.data() + 8, &high, sizeof high);
  return text;
}

TEST(Cubin, WidthsOfALineInTheirOrder) {
  const auto sequence = [](const std::string& bytes) {
    return find(read(bytes), 4, true, false)->sequence;
  };
  const std::vector<int> both = {16, 4};
  for (const unsigned sm : {80u, 90u, 100u}) {
    EXPECT_TRUE(sequence(cubin(sm)).empty()) << "under a condition";
    for (const std::int64_t target : {0x20, 0x30, 0x50, 0x0})
      EXPECT_EQ(sequence(cubin(sm, true, code_with_branch(sm, target))), both) << target;
    EXPECT_TRUE(sequence(cubin(sm, true, code_with_branch(sm, 0x40))).empty())
        << "the second may run without the first";
    EXPECT_TRUE(sequence(cubin(sm, true, code_with_branch(sm, 0x1000))) == both) << "far away";
    const Cubin c = read(cubin(sm, true, code_with_branch(sm, 0x20)));
    EXPECT_TRUE(find(c, 7, false, true)->sequence.empty()) << "one width";
  }
}

// Of compiled kernels, whose loops and guards say where they lead.
TEST(Sass, Branches) {
  EXPECT_EQ(sass_branch(0xfffffff000007947, 0x000fc0000383ffff, 80).relative, -16);
  EXPECT_EQ(sass_branch(0xfffffffc00fc7947, 0x000fc0000383ffff, 90).relative, -16);
  EXPECT_EQ(sass_branch(0xfffffa7000002947, 0x000fea000383ffff, 80).relative, 0x1b0 - 0x740);
  EXPECT_EQ(sass_branch(0xfffffff8009c2947, 0x000fec000383ffff, 90).relative, 0x1c0 - 0x750);
  EXPECT_EQ(sass_branch(0x00000df000008947, 0x000fea0003800000, 80).relative, 0xe60 - 0x70);
  EXPECT_TRUE(sass_branch(0x000000000000794d, 0, 90).ends_run) << "EXIT";
  EXPECT_FALSE(sass_branch(0x000000000000794d, 0, 90).relative);
  EXPECT_FALSE(sass_branch(0x0000000000007986, 0, 90).ends_run) << "STG";
}

TEST(Cubin, RefusesWhatItIsNot) {
  const auto refusal = [&](const std::string& bytes) {
    return error_of(ErrorCode::kBadFile, [&] { read(bytes); });
  };
  EXPECT_SAYS(refusal(""), "too short");
  EXPECT_SAYS(refusal(std::string(500, 'x')), "not an ELF file");
  std::string other = cubin();
  other[offsetof(Elf64_Ehdr, e_machine)] = 62;
  EXPECT_SAYS(refusal(other), "CUDA");
  EXPECT_SAYS(refusal(cubin().substr(0, 300)), "truncated");
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [] { read_cubin("/no/such.cubin"); }),
              "/no/such.cubin");
}

TEST(Cubin, SurvivesEveryTruncation) {
  const std::string good = cubin();
  for (std::size_t length = 0; length < good.size(); length += 3)
    EXPECT_THROW(read(good.substr(0, length)), Error) << length;
}

// Deterministic: the same damage in each run.
TEST(Cubin, SurvivesDamage) {
  const std::string good = cubin();
  std::mt19937 random(20240611);
  int read_anyway = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = round % 3 == 0 ? random() % 64 : random() % bad.size();
      constexpr unsigned char kEdges[] = {0x00, 0xff, 0x7f, 0x80};
      bad[at] = static_cast<char>(random() % 2 == 0 ? kEdges[random() % 4] : random());
    }
    try {
      read(bad);
      ++read_anyway;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kBadFile) << e.what();
    }
  }
  EXPECT_GT(read_anyway, 100) << "the damage should not always hit the first check";
}

TEST(Sass, Widths) {
  const auto one = [](int opcode, int code) {
    const auto all = sass_accesses(static_cast<std::uint64_t>(opcode), width_bits(code), 90);
    return all.size() == 1 ? all[0].bytes : -1;
  };
  EXPECT_EQ(one(0x984, 0), 1);
  EXPECT_EQ(one(0x984, 3), 2);
  EXPECT_EQ(one(0x988, 4), 4);
  EXPECT_EQ(one(0x381, 5), 8);
  EXPECT_EQ(one(0x386, 6), 16);
  EXPECT_TRUE(sass_accesses(0x38c, 0, 90).empty()) << "atomics";
  // Words as nvdisasm printed them: LDGSTS of 16, 8 and 4 bytes.
  for (const auto& [high, bytes] : {std::pair<std::uint64_t, int>{0x0003e2000b901c48, 16},
                                    {0x000fe8000b921a48, 8},
                                    {0x000fe8000b921848, 4}})
    EXPECT_EQ(sass_accesses(0x2097fae, high, 90).at(1).bytes, bytes);
  for (const auto& [high, bytes] : {std::pair<std::uint64_t, int>{0x008fe2000b981808, 16},
                                    {0x000fe2000b9a1408, 8},
                                    {0x000fe8000b9a1008, 4}})
    EXPECT_EQ(sass_accesses(0x40b7fae, high, 100).at(1).bytes, bytes);
}

Compiled kernel_for(const char* architecture, int registers, std::int64_t shared) {
  Compiled k;
  k.architecture = architecture;
  k.registers = registers;
  k.static_shared_bytes = shared;
  return k;
}

struct Case {
  const char* architecture;
  int registers;
  std::int64_t static_shared;
  int threads;
  std::int64_t dynamic_shared;
  int blocks;
  double occupancy;
  const char* limited_by;
};

TEST(Occupancy, KnownCases) {
  const Case cases[] = {
      {"sm_80", 32, 0, 256, 0, 8, 1, "threads"},
      {"sm_80", 33, 0, 256, 0, 6, 0.75, "registers"},  // 40 after rounding: 48 warps
      {"sm_80", 64, 0, 256, 0, 4, 0.5, "registers"},
      {"sm_80", 128, 0, 256, 0, 2, 0.25, "registers"},
      {"sm_80", 255, 0, 256, 0, 1, 0.125, "registers"},
      {"sm_80", 255, 0, 288, 0, 0, 0, "registers"},  // nine warps count as twelve
      {"sm_80", 16, 0, 32, 0, 32, 0.5, "blocks"},
      {"sm_86", 16, 0, 32, 0, 16, 1.0 / 3, "blocks"},
      {"sm_89", 16, 0, 32, 0, 24, 0.5, "blocks"},
      {"sm_86", 32, 0, 1024, 0, 1, 2.0 / 3, "threads"},
      {"sm_86", 32, 0, 512, 0, 3, 1, "threads"},
      {"sm_80", 32, 48 * 1024, 256, 0, 3, 0.375, "shared memory"},
      {"sm_86", 32, 48 * 1024, 256, 0, 2, 1.0 / 3, "shared memory"},
      {"sm_90", 32, 48 * 1024, 256, 0, 4, 0.5, "shared memory"},
      {"sm_80", 32, 0, 256, 163 * 1024, 1, 0.125, "shared memory"},
      {"sm_80", 32, 0, 256, 163 * 1024 + 1, 0, 0, "shared memory"},
      {"sm_90", 32, 0, 256, 227 * 1024, 1, 0.125, "shared memory"},
      {"sm_90a", 168, 0, 384, 0, 1, 0.1875, "registers"},
      {"sm_100", 32, 0, 128, 0, 16, 1, "threads"},
      {"sm_90", 32, 0, 1025, 0, 0, 0, "threads"},
      {"sm_90", 32, 0, 1, 0, 32, 0.5, "blocks"},
  };
  for (const Case& c : cases) {
    Compiled k = kernel_for(c.architecture, c.registers, c.static_shared);
    add_occupancy(k, c.threads, c.dynamic_shared);
    const std::string what = std::string(c.architecture) + " " + std::to_string(c.registers) + " " +
                             std::to_string(c.threads);
    EXPECT_EQ(k.blocks_per_sm, c.blocks) << what;
    EXPECT_DOUBLE_EQ(k.occupancy, c.occupancy) << what;
    EXPECT_EQ(k.limited_by, c.limited_by) << what;
  }
}

TEST(Occupancy, AnUnknownChipHasNone) {
  Compiled k = kernel_for("sm_52", 32, 0);
  k.occupancy = 0.5;
  add_occupancy(k, 256, 0);
  EXPECT_EQ(k.blocks_per_sm, 0);
  EXPECT_EQ(k.occupancy, 0);
  EXPECT_EQ(k.limited_by, "");
}

}  // namespace
}  // namespace tessera::simt::test
