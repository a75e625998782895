// `tessera show`: what is in a file, without reading more of it than is shown.
#include <fmt/format.h>

#include <algorithm>

#include "args.h"
#include "cli.h"
#include "io/tensor.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

constexpr std::int64_t kCornerRows = 4, kCornerCols = 6;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void print_corner(const io::FileMatrix& m) {
  const std::int64_t rows = std::min(m.rows, kCornerRows), cols = std::min(m.cols, kCornerCols);
  if (rows == 0 || cols == 0) return;
  std::vector<double> corner(static_cast<std::size_t>(rows * cols));
  io::read_block<double>(m, 0, 0, rows, cols, corner.data(), cols);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::string line = " ";
    for (std::int64_t j = 0; j < cols; ++j) {
      line += fmt::format(" {:>12.6g}", corner[static_cast<std::size_t>(i * cols + j)]);
    }
    fmt::print("{}{}\n", line, m.cols > cols ? "  ..." : "");
  }
  if (m.rows > rows) fmt::print("  ...\n");
}

void print_matrix(const io::FileMatrix& m) {
  fmt::print("{}: shape {}, {}{}, {}, {}\n", m.name, shape_text(m.shape), to_string(m.dtype),
             m.big_endian ? " big-endian" : "", layout_name(m.layout),
             format_bytes(static_cast<double>(m.bytes())));
  print_corner(m);
}

/// Several tensors: a table; one: its corner.
int show(const std::string& spec) {
  std::vector<io::TensorEntry> entries;
  try {
    entries = io::list_tensors(spec);
  } catch (const Error&) {
    // FILE:TENSOR, or a fault that open_matrix names as well.
    print_matrix(io::open_matrix(spec));
    return kOk;
  }
  if (entries.size() == 1) {
    print_matrix(io::open_matrix(spec));
    return kOk;
  }
  std::size_t width = 6;
  for (const io::TensorEntry& e : entries) width = std::max(width, e.name.size());
  fmt::print("{}: {} tensors\n", spec, entries.size());
  for (const io::TensorEntry& e : entries) {
    fmt::print("  {:<{}}  {:<8}  {:<18}  {}\n", e.name, width, e.dtype, shape_text(e.shape),
               format_bytes(static_cast<double>(e.bytes)));
  }
  return kOk;
}

}  // namespace

Verb add_show(CLI::App& root) {
  CLI::App* app = root.add_subcommand("show", "list the tensors of a file, or show one's corner");
  const auto spec = std::make_shared<std::string>();
  add_file(*app, "FILE", *spec, "X.npy, X.safetensors or X.safetensors:TENSOR")->required();
  app->footer(
      "Reads the header and the values shown, whatever the size of the file.\n\n"
      "Examples:\n"
      "  tessera show a.npy\n"
      "  tessera show model.safetensors\n"
      "  tessera show model.safetensors:layer.0.weight\n");
  return {app, [spec] { return show(*spec); }};
}

}  // namespace tessera::cli
