// A window on src/io for tests in other languages.
//   io_dump show SPEC...             prints, for each, dtype, shape, rows, cols, layout, and then a
//                                    line of C99 hexadecimal floats for each row
//   io_dump copy SPEC OUTPUT DTYPE   writes the matrix to OUTPUT as DTYPE
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "io/tensor.h"

namespace {

using namespace tessera;

std::vector<double> elements(const io::FileMatrix& m) {
  std::vector<double> out(static_cast<std::size_t>(m.rows * m.cols));
  io::read_block(m, 0, 0, m.rows, m.cols, out.data(), m.cols);
  return out;
}

void show(const std::string& spec) {
  const io::FileMatrix m = io::open_matrix(spec);
  std::string shape;
  for (const std::int64_t size : m.shape) shape += fmt::format(" {}", size);
  std::printf("dtype %s\nshape%s\nrows %lld\ncols %lld\nlayout %s\n",
              std::string(to_string(m.dtype)).c_str(), shape.c_str(),
              static_cast<long long>(m.rows), static_cast<long long>(m.cols),
              m.layout == Layout::kRowMajor ? "row" : "column");
  const std::vector<double> values = elements(m);
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int64_t j = 0; j < m.cols; ++j) {
      std::printf("%s%a", j == 0 ? "" : " ", values[static_cast<std::size_t>(i * m.cols + j)]);
    }
    std::printf("\n");
  }
}

void copy(const std::string& spec, const std::string& output, const std::string& dtype) {
  const io::FileMatrix m = io::open_matrix(spec);
  io::OutputMatrix out(output, parse_dtype(dtype), m.rows, m.cols);
  const std::vector<double> values = elements(m);
  out.write_block(0, 0, m.rows, m.cols, values.data(), m.cols);
  out.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() >= 2 && args[0] == "show") {
      for (std::size_t i = 1; i < args.size(); ++i) show(args[i]);
    } else if (args.size() == 4 && args[0] == "copy") {
      copy(args[1], args[2], args[3]);
    } else {
      std::fprintf(stderr, "usage: io_dump show SPEC... | io_dump copy SPEC OUTPUT DTYPE\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "io_dump: %s\n", error.what());
    return 3;
  }
  return 0;
}
