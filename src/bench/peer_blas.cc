#include "bench/peer_blas.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "bench/shared_library.h"
#include "cpu/simd_targets.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

// The values of CBLAS_ORDER and CBLAS_TRANSPOSE in every cblas.h.
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

template <class T>
using CblasGemm = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                       const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

/// cblas_sgemm and cblas_dgemm with 32-bit integers.
class CblasLibrary : public CpuLibrary {
 public:
  explicit CblasLibrary(const std::string& file)
      : library_(file),
        sgemm_(library_.get<CblasGemm<float>>("cblas_sgemm")),
        dgemm_(library_.get<CblasGemm<double>>("cblas_dgemm")) {}

  std::string path() const override { return library_.path(); }

  std::optional<std::string> refusal(const Problem& p) const override {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const std::pair<const char*, std::int64_t> numbers[] = {
        {"m", p.m}, {"n", p.n}, {"k", p.k}, {"lda", p.lda}, {"ldb", p.ldb}, {"ldc", p.ldc}};
    for (const auto& [name, value] : numbers) {
      if (value > kMost) {
        return fmt::format("{} = {}: its integers hold at most {}", name, value, kMost);
      }
    }
    return std::nullopt;
  }

  void multiply(const Problem& p, const Operands& x) const override {
    if (p.dtype == DType::kF32) {
      call(*sgemm_, p, x);
    } else {
      call(*dgemm_, p, x);
    }
  }

 protected:
  [[noreturn]] void wide_integers() const {
    throw Error(ErrorCode::kUnsupported,
                path() + ": its integers have 64 bits; the build with 32 bits is needed");
  }

  SharedLibrary library_;

 private:
  template <class T>
  static void call(CblasGemm<T>& gemm, const Problem& p, const Operands& x) {
    gemm(kRowMajor, p.trans_a ? kTrans : kNoTrans, p.trans_b ? kTrans : kNoTrans,
         static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k),
         static_cast<T>(x.alpha), static_cast<const T*>(x.a), static_cast<int>(p.lda),
         static_cast<const T*>(x.b), static_cast<int>(p.ldb), static_cast<T>(x.beta),
         static_cast<T*>(x.c), static_cast<int>(p.ldc));
  }

  CblasGemm<float>* sgemm_;
  CblasGemm<double>* dgemm_;
};

class OpenBlas : public CblasLibrary {
 public:
  explicit OpenBlas(const std::string& file)
      : CblasLibrary(file),
        config_(library_.get<const char*()>("openblas_get_config")()),
        core_(library_.get<const char*()>("openblas_get_corename")()),
        set_threads_(library_.get<void(int)>("openblas_set_num_threads")),
        threads_(library_.get<int()>("openblas_get_num_threads")) {
    if (config_.find("USE64BITINT") != std::string::npos) wide_integers();
  }

  /// The second word of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  std::string version() const override {
    const auto begin = config_.find(' ');
    if (begin == std::string::npos) return config_;
    return config_.substr(begin + 1, config_.find(' ', begin + 1) - begin - 1);
  }
  std::string core() const override { return core_; }
  void set_threads(int threads) override { set_threads_(threads); }
  int threads() const override { return threads_(); }

 private:
  std::string config_, core_;
  void (*set_threads_)(int);
  int (*threads_)();
};

class Blis : public CblasLibrary {
 public:
  explicit Blis(const std::string& file)
      : CblasLibrary(file),
        version_(library_.get<const char*()>("bli_info_get_version_str")()),
        set_threads_(library_.get<void(std::int64_t)>("bli_thread_set_num_threads")),
        threads_(library_.get<std::int64_t()>("bli_thread_get_num_threads")) {
    auto* const integer_bits = library_.get_if<std::int64_t()>("bli_info_get_blas_int_type_size");
    if (integer_bits != nullptr && integer_bits() != 32) wide_integers();
    // Before the query: with BLIS_ARCH_TYPE set, that aborts where no kernels are registered yet.
    library_.get<void()>("bli_init")();
    const int arch = library_.get<int()>("bli_arch_query_id")();
    core_ = library_.get<const char*(int)>("bli_arch_string")(arch);
  }

  std::string version() const override { return version_; }
  std::string core() const override { return core_; }
  void set_threads(int threads) override { set_threads_(threads); }
  int threads() const override { return static_cast<int>(threads_()); }

 private:
  std::string version_, core_;
  void (*set_threads_)(std::int64_t);
  std::int64_t (*threads_)();
};

/// MKLVersion of mkl_types.h.
struct MklVersion {
  int major, minor, update;
  char *status, *build, *processor, *platform;
};

class Mkl : public CblasLibrary {
 public:
  explicit Mkl(const std::string& file)
      : CblasLibrary(file),
        set_threads_(library_.get<void(int)>("MKL_Set_Num_Threads")),
        threads_(library_.get<int()>("MKL_Get_Max_Threads")) {
    // Before any other call: 0 asks for 32-bit integers, whatever MKL_INTERFACE_LAYER says.
    if (auto* const set_layer = library_.get_if<int(int)>("MKL_Set_Interface_Layer")) {
      if ((set_layer(0) & 1) != 0) wide_integers();
    }
    // Otherwise it may take fewer threads than it is given.
    library_.get<void(int)>("MKL_Set_Dynamic")(0);
    MklVersion version{};
    library_.get<void(MklVersion*)>("MKL_Get_Version")(&version);
    version_ = fmt::format("{}.{}.{}", version.major, version.minor, version.update);
    if (version.processor != nullptr) core_ = version.processor;
  }

  std::string version() const override { return version_; }
  std::string core() const override { return core_; }
  void set_threads(int threads) override { set_threads_(threads); }
  int threads() const override { return threads_(); }
  std::vector<std::string> notes() const override;

 private:
  std::string version_, core_;
  void (*set_threads_)(int);
  int (*threads_)();
};

bool has_avx512() { return simd_target_names().front().rfind("AVX3", 0) == 0; }
bool has_avx2() { return has_avx512() || simd_target_names().front() == "AVX2"; }

std::vector<std::string> Mkl::notes() const {
  const bool uses_avx512 =
      core_.find("AVX-512") != std::string::npos || core_.find("AVX10") != std::string::npos;
  if (!has_avx512() || uses_avx512) return {};
  return {"this processor has AVX-512, but this MKL does not use it here"};
}

/// Names of OpenBLAS for processors like this one, the newest first.
std::vector<std::string> openblas_cores() {
  const std::string& best = simd_target_names().front();
  if (best == "AVX3_SPR") return {"SAPPHIRERAPIDS", "SKYLAKEX"};
  if (has_avx512()) return {"SKYLAKEX"};
  if (has_avx2()) return {"HASWELL"};
  return {};
}

std::vector<std::string> blis_cores() {
  if (has_avx512()) return {"skx"};
  if (has_avx2()) return {"haswell"};
  return {};
}

template <class Library>
std::unique_ptr<CpuLibrary> open_as(const std::string& file) {
  return std::make_unique<Library>(file);
}

}  // namespace

CpuPeerKind openblas_kind() {
  CpuPeerKind kind{"openblas",
                   "TESSERA_OPENBLAS",
                   {"libopenblas.so.0", "libopenblas.so",
                    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
                    "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblas.so.0"},
                   open_as<OpenBlas>};
  kind.core_variable = "OPENBLAS_CORETYPE";
  kind.cores = openblas_cores();
  return kind;
}

CpuPeerKind blis_kind() {
  CpuPeerKind kind{"blis",
                   "TESSERA_BLIS",
                   {"libblis.so.4", "libblis-mt.so", "libblis.so",
                    "/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4",
                    "/usr/lib/aarch64-linux-gnu/blis-pthread/libblis.so.4"},
                   open_as<Blis>};
  kind.core_variable = "BLIS_ARCH_TYPE";
  kind.cores = blis_cores();
  kind.telling = {"BLIS_JC_NT", "BLIS_PC_NT", "BLIS_IC_NT", "BLIS_JR_NT", "BLIS_IR_NT"};
  return kind;
}

CpuPeerKind mkl_kind() {
  CpuPeerKind kind{
      "mkl", "TESSERA_MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"}, open_as<Mkl>};
  kind.presets = {{"KMP_BLOCKTIME", "1",
                   "its threads otherwise spin for 200 ms after each product, into the samples of "
                   "others"}};
  kind.telling = {"MKL_CBWR",           "MKL_ENABLE_INSTRUCTIONS",
                  "MKL_DEBUG_CPU_TYPE", "MKL_THREADING_LAYER",
                  "OMP_WAIT_POLICY",    "KMP_AFFINITY"};
  return kind;
}

}  // namespace tessera::bench
