// Any text as a preprocessed CUDA program: it is translated, however little sense it makes, with
// every line where it was.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "simt/source/translate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::simt;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Translation translation = translate(text, "fuzz.cu");
  // The program lies between the marks of the preamble and of the table of kernels.
  const std::string head = "# 1 \"fuzz.cu\"\n", tail = "\n# 1 \"<kernels>\" 3\n";
  const std::size_t begin = translation.text.find(head) + head.size();
  const std::size_t end = translation.text.rfind(tail);
  if (end == std::string::npos || begin > end) std::abort();
  const auto lines = [](auto from, auto to) { return std::count(from, to, '\n'); };
  const auto first = translation.text.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = translation.text.begin() + static_cast<std::ptrdiff_t>(end);
  if (lines(first, last) != lines(text.begin(), text.end())) std::abort();
  for (const Refusal& refusal : translation.refusals) {
    if (refusal.what.empty() || refusal.why.empty()) std::abort();
  }
  return 0;
}
