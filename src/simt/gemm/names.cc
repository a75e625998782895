#include "simt/gemm/names.h"

#include <cctype>
#include <map>

namespace tessera::simt {
namespace {

bool cut_front(std::string& s, const std::string& front) {
  if (s.size() <= front.size() || s.rfind(front, 0) != 0) return false;
  s.erase(0, front.size());
  return true;
}

bool cut_back(std::string& s, const std::string& back) {
  if (s.size() <= back.size() || s.compare(s.size() - back.size(), back.size(), back) != 0) {
    return false;
  }
  s.erase(s.size() - back.size());
  return true;
}

using Table = std::map<std::string, Role>;

void add(Table& table, Role role, std::initializer_list<const char*> names) {
  for (const char* name : names) table.emplace(name, role);
}

Table pointers() {
  Table t;
  add(t, Role::kA, {"a",      "da",     "ga",   "ha",    "ad",   "mata",   "amat", "matrixa",
                    "ina",    "inputa", "aptr", "lhs",   "left", "x",      "in1",  "in0",
                    "input1", "src1",   "src0", "first", "mat1", "matrix1"});
  add(t, Role::kB, {"b",   "db",     "gb",   "hb",     "bd",    "matb",   "bmat",   "matrixb",
                    "inb", "inputb", "bptr", "rhs",    "right", "w",      "weight", "weights",
                    "in2", "input2", "src2", "second", "mat2",  "matrix2"});
  add(t, Role::kC,
      {"c",       "dc",   "gc",      "hc",     "cd",     "matc", "cmat",   "matrixc", "outc",
       "outputc", "cptr", "out",     "output", "result", "res",  "dst",    "dest",    "y",
       "z",       "o",    "product", "prod",   "ret",    "ans",  "answer", "mat3",    "matrix3"});
  add(t, Role::kD, {"d", "dd", "matd", "matrixd"});
  return t;
}

Table numbers() {
  Table t;
  add(t, Role::kM,
      {"m",        "rowsa", "arows",   "rowa",    "numarows", "nrowsa", "heighta", "aheight",
       "ha",       "msize", "sizem",   "dimm",    "mdim",     "rowsc",  "crows",   "rowc",
       "numcrows", "hc",    "heightc", "cheight", "rows",     "height", "nrows",   "numrows"});
  add(t, Role::kN, {"n",        "colsb",    "bcols",  "colb",    "numbcolumns", "numbcols",
                    "ncolsb",   "widthb",   "bwidth", "wb",      "nsize",       "sizen",
                    "dimn",     "ndim",     "colsc",  "ccols",   "colc",        "numccolumns",
                    "numccols", "wc",       "widthc", "cwidth",  "columnsb",    "bcolumns",
                    "columnsc", "ccolumns", "cols",   "columns", "ncols",       "numcols"});
  add(t, Role::kK,
      {"k",       "colsa",     "acols",     "cola",     "numacolumns", "numacols", "ncolsa",
       "widtha",  "awidth",    "wa",        "ksize",    "sizek",       "dimk",     "kdim",
       "rowsb",   "brows",     "rowb",      "numbrows", "nrowsb",      "hb",       "heightb",
       "bheight", "inner",     "innerdim",  "common",   "depth",       "columnsa", "acolumns",
       "shared",  "shareddim", "colsarowsb"});
  add(t, Role::kLda, {"lda", "stridea", "astride", "ldmatrixa"});
  add(t, Role::kLdb, {"ldb", "strideb", "bstride"});
  add(t, Role::kLdc, {"ldc", "stridec", "cstride", "ldd"});
  add(t, Role::kAlpha, {"alpha"});
  add(t, Role::kBeta, {"beta"});
  add(t, Role::kSquare,
      {"size", "width", "dim", "wid", "len", "length", "order", "sz", "s", "nn", "dimension",
       "matsize", "matrixsize", "matdim", "matrixdim", "nelem", "wp", "side"});
  return t;
}

std::optional<Role> look_up(const Table& table, const std::string& name) {
  const auto found = table.find(name);
  if (found == table.end()) return {};
  return found->second;
}

}  // namespace

std::string plain_name(const std::string& name) {
  std::string s;
  for (char c : name) s += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (cut_front(s, "_")) {
  }
  for (const char* front : {"device_", "dev_", "host_", "gpu_", "d_", "g_", "h_", "p_", "ptr_"}) {
    if (cut_front(s, front)) break;
  }
  for (const char* back : {"_device", "_dev", "_gpu", "_host", "_ptr", "_d", "_g", "_h", "_"}) {
    if (cut_back(s, back)) break;
  }
  std::string out;
  for (char c : s) {
    if (c != '_') out += c;
  }
  return out;
}

std::optional<Role> pointer_role(const std::string& plain) {
  static const Table kTable = pointers();
  return look_up(kTable, plain);
}

std::optional<Role> number_role(const std::string& plain) {
  static const Table kTable = numbers();
  return look_up(kTable, plain);
}

std::string word_of(Role role) {
  switch (role) {
    case Role::kA:
      return "A";
    case Role::kB:
      return "B";
    case Role::kC:
      return "C";
    case Role::kD:
      return "D";
    case Role::kM:
      return "M";
    case Role::kN:
      return "N";
    case Role::kK:
      return "K";
    case Role::kLda:
      return "lda";
    case Role::kLdb:
      return "ldb";
    case Role::kLdc:
      return "ldc";
    case Role::kAlpha:
      return "alpha";
    case Role::kBeta:
      return "beta";
    case Role::kConstant:
      break;
    case Role::kSquare:
      return "square";
  }
  return "";
}

}  // namespace tessera::simt
