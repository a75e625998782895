// `tessera kernels`: the registry as a table.
#include <fmt/format.h>

#include <algorithm>

#include "cli.h"
#include "tessera/kernel.h"

namespace tessera::cli {
namespace {

Json kernel_json(const Kernel& kernel) {
  return {{"id", kernel.name},
          {"stem", kernel.stem},
          {"summary", kernel.summary},
          {"why", kernel.why},
          {"backend", kernel.id.backend},
          {"family", kernel.id.family},
          {"dtype", to_string(kernel.id.dtype)},
          {"config", kernel.id.config},
          {"arch", kernel.arch},
          {"alignment_bytes", kernel.alignment_bytes},
          {"limits", kernel.limits}};
}

void print_table(const std::vector<Kernel>& kernels) {
  std::size_t id = 2, stem = 4, arch = 4;
  for (const Kernel& kernel : kernels) {
    id = std::max(id, kernel.name.size());
    stem = std::max(stem, kernel.stem.size());
    arch = std::max(arch, kernel.arch.size());
  }
  const auto row = [&](const std::string& a, const std::string& b, const std::string& c,
                       const std::string& align, const std::string& rest) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:>5}  {}\n", a, id, b, stem, c, arch, align, rest);
  };
  row("id", "file", "needs", "align", "idea; limits");
  for (const Kernel& kernel : kernels) {
    row(kernel.name, kernel.stem, kernel.arch, fmt::format("{}", kernel.alignment_bytes),
        fmt::format("{}; limits: {}", kernel.summary, kernel.limits));
  }
}

}  // namespace

Verb add_kernels(CLI::App& root) {
  CLI::App* app = root.add_subcommand("kernels", "list the kernels of this build");
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "as a JSON array");
  app->footer(
      "An id, its first two or three parts, or the file stem names a kernel for --kernel.\n\n"
      "Examples:\n"
      "  tessera kernels\n"
      "  tessera kernels --json\n");
  return {app, [json]() -> int {
            const std::vector<Kernel>& kernels = registry().kernels();
            if (!*json) {
              print_table(kernels);
              return kOk;
            }
            Json array = Json::array();
            for (const Kernel& kernel : kernels) array.push_back(kernel_json(kernel));
            print_json(array);
            return kOk;
          }};
}

}  // namespace tessera::cli
