// What the executor cannot run, told by its name before anything is compiled.
#include <algorithm>
#include <array>
#include <set>

#include "simt/source/libraries.h"
#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

struct Feature {
  std::string_view prefix;
  std::string_view why;
  bool is_whole_word;
};
constexpr std::string_view kNoGraphs =
    "Graphs of launches are not run; launch the kernels directly.";
constexpr std::string_view kNoTextures = "Textures and surfaces are not run.";
constexpr std::string_view kNoDriver = "Programs of the driver interface are not run.";
constexpr std::string_view kNoGridSync =
    "Barriers over the whole grid are not run, since blocks run one after another.";
constexpr std::array<Feature, 24> kFeatures = {{
    {"cudaGraph", kNoGraphs, false},
    {"cudaStreamBeginCapture", kNoGraphs, false},
    {"cudaLaunchCooperativeKernel", kNoGridSync, false},
    {"cudaTextureObject_t", kNoTextures, true},
    {"cudaCreateTextureObject", kNoTextures, true},
    {"cudaSurfaceObject_t", kNoTextures, true},
    {"cudaCreateSurfaceObject", kNoTextures, true},
    {"cudaBindTexture", kNoTextures, false},
    {"tex1D", kNoTextures, false},
    {"tex2D", kNoTextures, false},
    {"tex3D", kNoTextures, false},
    {"surf1D", kNoTextures, false},
    {"surf2D", kNoTextures, false},
    {"surf3D", kNoTextures, false},
    {"cuModuleLoad", kNoDriver, false},
    {"cuLaunchKernel", kNoDriver, false},
    {"cuCtxCreate", kNoDriver, false},
    {"CUtensorMap", "Tensor maps and their copies (TMA) are not run.", false},
    {"cuTensorMapEncode", "Tensor maps and their copies (TMA) are not run.", false},
    {"cudaGridDependencySynchronize", "Programmatic dependent launches are not run.", true},
    {"cudaTriggerProgrammaticLaunchCompletion", "Programmatic dependent launches are not run.",
     true},
    {"cudaMallocArray", kNoTextures, true},
    {"cudaIpc", "Memory of other processes is not reached.", false},
    {"cluster_group", "Clusters of thread blocks are not run.", true},
}};

class Refuser {
 public:
  explicit Refuser(const Program& program) : program_(program), tokens_(program.tokens) {}

  void run() {
    includes();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].is_word()) continue;
      library(i);
      feature(i);
      device_namespace(i);
      grid_barrier(i);
      large_tile(i);
      device_heap(i);
    }
  }

 private:
  void refuse(std::size_t i, const std::string& what, std::string why) {
    program_.refuse(i, what, std::move(why));
  }

  void includes() {
    for (const Include& include : tokens_.includes) {
      const std::string name = include.header.substr(include.header.rfind('/') + 1);
      // Many a file includes a library of which it uses nothing.
      if (const auto library = library_of_header(include.header); !library.empty()) {
        program_.doubts.push_back(
            {include.file, include.line, "#include <" + name + ">", why_not(library)});
      } else if (name.starts_with("cuda") && !is_word_header(include.header)) {
        const std::string what = "#include <" + name + ">";
        program_.refusals.push_back({include.file, include.line, what,
                                     "This header of CUDA has no counterpart in the executor.",
                                     what});
      }
    }
  }

  /// The executor's headers lie together.
  bool is_word_header(const std::string& header) const {
    return tokens_.words_folder.empty() || header.starts_with(tokens_.words_folder);
  }

  void library(std::size_t i) {
    const std::string_view word = tokens_[i].text;
    if (const auto library = library_of_word(word); !library.empty()) {
      refuse_library(i, std::string(word), library);
      return;
    }
    const bool is_opened = i >= 2 && tokens_.is(i - 1, "namespace") && tokens_.is(i - 2, "using");
    if (const auto library = library_of_namespace(word); is_opened && !library.empty()) {
      refuse_library(i, "using namespace " + std::string(word), library);
    }
    if (!tokens_.is(i + 1, "::") || (i > 0 && tokens_.is(i - 1, "::")) || i + 2 >= tokens_.size()) {
      return;
    }
    if (const auto library = library_of_namespace(word); !library.empty()) {
      refuse_library(i, std::string(word) + "::" + std::string(tokens_[i + 2].text), library);
    }
  }

  void refuse_library(std::size_t i, const std::string& what, std::string_view library) {
    program_.refuse(i, what, why_not(library), std::string(library));
  }

  void feature(std::size_t i) {
    const Token& token = tokens_[i];
    for (const Feature& feature : kFeatures) {
      const bool matches =
          feature.is_whole_word ? token.is(feature.prefix) : token.text.starts_with(feature.prefix);
      // A program may have a function of such a name itself, as a member.
      if (!matches || (i > 0 && (tokens_.is(i - 1, ".") || tokens_.is(i - 1, "->")))) continue;
      if (feature.why == kNoTextures && feature.prefix.size() < 7 && !tokens_.is(i + 1, "(") &&
          !tokens_.is(i + 1, "<")) {
        continue;
      }
      // A program of graphs or textures names many parts of them.
      program_.refuse(i, std::string(token.text), std::string(feature.why),
                      std::string(feature.why));
      return;
    }
  }

  void device_heap(std::size_t i) {
    const bool is_call = tokens_[i].is("malloc") && tokens_.is(i + 1, "(");
    // `new (p) T` makes an object where there is memory already.
    const bool is_new = tokens_[i].is("new") && tokens_.is_word(i + 1);
    if (!is_call && !is_new) return;
    const Function* around = program_.declarations.around(i);
    if (around == nullptr || !around->device_only()) return;
    refuse(i, std::string(tokens_[i].text) + " in a kernel",
           "Memory that a kernel allocates by itself is not watched.");
  }

  void device_namespace(std::size_t i) {
    if (!tokens_.is(i + 1, "::")) return;
    if (tokens_[i].is("wmma") || (tokens_[i].is("nvcuda") && tokens_.is(i + 2, "wmma"))) {
      refuse(i, "wmma", "Tensor cores (WMMA) are not run.");
    }
    if (!tokens_[i].is("cuda") || (i > 0 && tokens_.is(i - 1, "::"))) return;
    for (std::string_view word : {"barrier", "pipeline", "make_pipeline", "memcpy_async"}) {
      if (tokens_.is(i + 2, word)) {
        refuse(i, "cuda::" + std::string(word),
               "Barriers and pipelines as objects are not run; __pipeline_memcpy_async and "
               "__syncthreads are.");
      }
    }
  }

  /// tiled_partition<64>: a tile of several warps has a barrier of its own.
  void large_tile(std::size_t i) {
    const Token& word = tokens_[i];
    const bool is_tile = word.is("tiled_partition") || word.is("thread_block_tile");
    if (!is_tile && !word.is("block_tile_memory")) return;
    std::string what(word.text);
    if (is_tile) {
      if (!tokens_.is(i + 1, "<") || i + 2 >= tokens_.size()) return;
      const std::string size(tokens_[i + 2].text);
      const bool is_number = !size.empty() && size.size() < 10 &&
                             size.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number || std::stoi(size) <= 32) return;
      what += "<" + size + ">";
    }
    refuse(i, what, "Tiles of more than one warp (32 threads) are not run.");
  }

  /// this_grid().sync(), or sync of a variable that holds this_grid().
  void grid_barrier(std::size_t i) {
    if (tokens_[i].is("this_grid") && tokens_.is(i + 1, "(")) {
      if (tokens_.is(i + 3, ".") && tokens_.is(i + 4, "sync")) {
        refuse(i, "this_grid().sync", std::string(kNoGridSync));
      }
      std::size_t first = i;
      while (first >= 2 && tokens_.is(first - 1, "::") && tokens_.is_word(first - 2)) first -= 2;
      if (first >= 2 && tokens_.is(first - 1, "=")) {
        grids_.insert(std::string(tokens_[first - 2].text));
      }
    }
    if (grids_.count(std::string(tokens_[i].text)) == 0) return;
    const bool member = tokens_.is(i + 1, ".") && tokens_.is(i + 2, "sync");
    const bool argument = i >= 2 && tokens_.is(i - 1, "(") && tokens_.is(i - 2, "sync");
    if (member || argument) refuse(i, "grid sync", std::string(kNoGridSync));
  }

  const Program& program_;
  const Tokens& tokens_;
  std::set<std::string> grids_;
};

}  // namespace

void refuse_unsupported(const Program& program) { Refuser(program).run(); }

}  // namespace tessera::simt
