#include "bench/peer_onednn.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

#include "bench/shared_library.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

using std::int64_t;

/// dnnl_status_t and dnnl_dim_t of dnnl_types.h. The matrices are row-major.
using DnnlSgemm = int(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                      const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
                      float* c, int64_t ldc);

/// dnnl_version_t, up to the fields used.
struct DnnlVersion {
  int major, minor, patch;
};

constexpr int kStrict = 0;  // dnnl_fpmath_mode_strict

class OneDnn : public CpuLibrary {
 public:
  explicit OneDnn(const std::string& file)
      : library_(file),
        sgemm_(library_.get<DnnlSgemm>("dnnl_sgemm")),
        set_threads_(library_.get_if<void(int)>("omp_set_num_threads")),
        threads_(library_.get_if<int()>("omp_get_max_threads")) {
    if (auto* const set_mode = library_.get_if<int(int)>("dnnl_set_default_fpmath_mode")) {
      set_mode(kStrict);
    }
    if (auto* const set_dynamic = library_.get_if<void(int)>("omp_set_dynamic")) set_dynamic(0);
  }

  std::string path() const override { return library_.path(); }

  std::string version() const override {
    const DnnlVersion& v = *library_.get<const DnnlVersion*()>("dnnl_version")();
    return fmt::format("{}.{}.{}", v.major, v.minor, v.patch);
  }

  /// The bits of dnnl_cpu_isa_t are cumulative: a newer set contains those of the older ones.
  std::string core() const override {
    auto* const effective = library_.get_if<unsigned()>("dnnl_get_effective_cpu_isa");
    if (effective == nullptr) return "";
    const unsigned isa = effective();
    const std::pair<unsigned, const char*> sets[] = {
        {0x27, "AVX-512"}, {0x7, "AVX2"}, {0x3, "AVX"}, {0x1, "SSE4.1"}};
    for (const auto& [bits, name] : sets) {
      if ((isa & bits) == bits) return fmt::format("{} (dnnl_cpu_isa {:#x})", name, isa);
    }
    return fmt::format("dnnl_cpu_isa {:#x}", isa);
  }

  void set_threads(int threads) override {
    if (set_threads_ != nullptr) set_threads_(threads);
  }
  int threads() const override { return threads_ != nullptr ? threads_() : 0; }

  std::optional<std::string> refusal(const Problem& p) const override {
    if (p.dtype == DType::kF32) return std::nullopt;
    return fmt::format("dtype {}: dnnl_sgemm takes f32 only", to_string(p.dtype));
  }

  void multiply(const Problem& p, const Operands& x) const override {
    const int status = sgemm_(p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N', p.m, p.n, p.k,
                              static_cast<float>(x.alpha), static_cast<const float*>(x.a), p.lda,
                              static_cast<const float*>(x.b), p.ldb, static_cast<float>(x.beta),
                              static_cast<float*>(x.c), p.ldc);
    if (status != 0) {
      throw Error(ErrorCode::kUnsupported, fmt::format("dnnl_sgemm returned status {}", status));
    }
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> out;
    for (const char* variable : {"ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"}) {
      const char* mode = std::getenv(variable);
      if (mode == nullptr || *mode == '\0') continue;
      out.push_back(fmt::format("{}={} overruled: FP32 means strict FP32", variable, mode));
    }
    if (set_threads_ == nullptr) out.push_back("no OpenMP in it: its threads cannot be set");
    return out;
  }

 private:
  SharedLibrary library_;
  DnnlSgemm* sgemm_;
  void (*set_threads_)(int);
  int (*threads_)();
};

std::unique_ptr<CpuLibrary> open(const std::string& file) { return std::make_unique<OneDnn>(file); }

}  // namespace

CpuPeerKind onednn_kind() {
  CpuPeerKind kind{
      "onednn", "TESSERA_ONEDNN", {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"}, open};
  kind.telling = {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_VERBOSE", "DNNL_VERBOSE",
                  "OMP_WAIT_POLICY",    "GOMP_SPINCOUNT",   "OMP_PROC_BIND"};
  return kind;
}

}  // namespace tessera::bench
