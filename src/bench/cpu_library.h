// What the CPU peers have in common: a BLAS-like library that multiplies on the host.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/kernel.h"

namespace tessera::bench {

/// One opened library.
class CpuLibrary {
 public:
  virtual ~CpuLibrary() = default;
  virtual std::string path() const = 0;
  virtual std::string version() const = 0;
  /// The processor or instruction set whose code it uses, in its own words.
  virtual std::string core() const = 0;

  virtual void set_threads(int threads) = 0;
  /// As it will use; 0 when it does not say.
  virtual int threads() const = 0;

  /// Why it cannot compute a member of `p` in the types and integers it has.
  virtual std::optional<std::string> refusal(const Problem& p) const = 0;
  /// One member, with the pointers of `x`.
  virtual void multiply(const Problem& p, const Operands& x) const = 0;

  /// What a reader must know of it besides its core.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// How to find and open one kind.
struct CpuPeerKind {
  std::string name;      ///< "openblas"
  std::string variable;  ///< TESSERA_OPENBLAS: the file to open, and no other
  std::vector<std::string> files;
  std::unique_ptr<CpuLibrary> (*open)(const std::string& file);

  /// The environment variable that overrules how it takes the processor, read when it is loaded;
  /// empty when there is none. `cores` are values worth a try here.
  std::string core_variable = {};
  std::vector<std::string> cores = {};

  /// A variable set before it is opened, unless it is set already: name, value, why.
  struct Preset {
    std::string variable, value, why;
  };
  std::vector<Preset> presets = {};
  /// Variables that change its speed or arithmetic; named in the notes where the user set them.
  std::vector<std::string> telling = {};
};

}  // namespace tessera::bench
