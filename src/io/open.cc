// From what the user names to a matrix: which file, which format, which tensor.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "io/mapped_file.h"
#include "io/message.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/tensor.h"

namespace tessera::io {
namespace {

struct Spec {
  std::string path;
  std::optional<std::string> tensor;
};

bool exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

/// Both paths and tensor names may hold colons, so the longest existing path decides.
Spec split(const std::string& spec) {
  const std::size_t last = spec.rfind(':');
  if (last == spec.npos || exists(spec)) return {spec, std::nullopt};
  for (std::size_t at = last; at != spec.npos && at > 0; at = spec.rfind(':', at - 1)) {
    if (exists(spec.substr(0, at))) return {spec.substr(0, at), spec.substr(at + 1)};
  }
  return {spec.substr(0, last), spec.substr(last + 1)};
}

enum class Format { kNpy, kSafetensors };

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Told by the first bytes; where they fit neither format, the name decides which rule is quoted.
Format format_of(std::span<const std::byte> bytes, const std::string& path) {
  if (is_npy(bytes)) return Format::kNpy;
  if (bytes.size() > 8 && bytes[8] == std::byte{'{'}) return Format::kSafetensors;
  if (bytes.size() > 1 && bytes[0] == std::byte{'P'} && bytes[1] == std::byte{'K'}) {
    bad_file(path, "is a zip archive (.npz, .pt): readable are .npy and .safetensors");
  }
  if (ends_with(path, ".npy")) return Format::kNpy;
  if (ends_with(path, ".safetensors")) return Format::kSafetensors;
  bad_file(path, fmt::format("begins with {}: neither .npy nor .safetensors",
                             in_quotes({reinterpret_cast<const char*>(bytes.data()),
                                        std::min<std::size_t>(bytes.size(), 8)})));
}

/// The tensor of a file that is named without one.
std::string only_tensor(const SafetensorsFile& file, const std::string& path) {
  if (file.entries.size() == 1) return file.entries[0].name;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(file.entries.size(), 5); ++i) {
    names.push_back(in_quotes(file.entries[i].name));
  }
  if (names.empty()) bad_file(path, "holds no tensor");
  bad_file(path, fmt::format("holds {} tensors: name one as {}:TENSOR, e.g. {}",
                             file.entries.size(), path, fmt::join(names, ", ")));
}

}  // namespace

FileMatrix open_matrix(const std::string& spec, Rank rank) {
  const Spec wanted = split(spec);
  const MappedFile file = map_file(wanted.path);
  FileMatrix matrix;
  if (format_of(file.bytes, wanted.path) == Format::kNpy) {
    if (wanted.tensor) {
      bad_file(wanted.path, fmt::format("a .npy file has no tensor names: {} cannot be asked for",
                                        in_quotes(*wanted.tensor)));
    }
    matrix = parse_npy(file.bytes, wanted.path, rank);
  } else {
    const SafetensorsFile tensors = parse_safetensors(file.bytes, wanted.path);
    matrix = find_tensor(tensors, wanted.path,
                         wanted.tensor ? *wanted.tensor : only_tensor(tensors, wanted.path), rank);
  }
  matrix.mapping = file.mapping;
  return matrix;
}

std::vector<TensorEntry> list_tensors(const std::string& path) {
  const MappedFile file = map_file(path);
  if (format_of(file.bytes, path) == Format::kNpy) {
    NpyHeader header = parse_npy_header(file.bytes, path);
    return {{"", std::move(header.descr), std::move(header.shape), header.data_bytes}};
  }
  const SafetensorsFile tensors = parse_safetensors(file.bytes, path);
  return {tensors.entries.begin(), tensors.entries.end()};
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x, y;
  return ::stat(split(a).path.c_str(), &x) == 0 && ::stat(split(b).path.c_str(), &y) == 0 &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace tessera::io
