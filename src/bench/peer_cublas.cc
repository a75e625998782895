#include "bench/peer_cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/backend.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

// Of cublas_v2.h, cublas_api.h and library_types.h.
using Handle = void*;
constexpr int kSuccess = 0, kOpN = 0, kOpT = 1, kDefaultMath = 0;

/// xGemmStridedBatched: one product is a batch of one.
template <class T, class Int>
using Gemm = int (*)(Handle, int op_a, int op_b, Int m, Int n, Int k, const T* alpha, const T* a,
                     Int lda, long long stride_a, const T* b, Int ldb, long long stride_b,
                     const T* beta, T* c, Int ldc, long long stride_c, Int batch);
/// xGemm.
template <class T, class Int>
using SingleGemm = int (*)(Handle, int op_a, int op_b, Int m, Int n, Int k, const T* alpha,
                           const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c, Int ldc);

template <class T, class Int>
struct Entries {
  SingleGemm<T, Int> single = nullptr;
  Gemm<T, Int> batched = nullptr;
};

struct Library {
  void* file = nullptr;
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*set_stream)(Handle, void*) = nullptr;
  int (*set_workspace)(Handle, void*, std::size_t) = nullptr;
  int (*set_math_mode)(Handle, int) = nullptr;
  int (*property)(int, int*) = nullptr;
  Entries<float, int> f32;
  Entries<double, int> f64;
  // Of cuBLAS 12 and newer; null before.
  Entries<float, std::int64_t> f32_long;
  Entries<double, std::int64_t> f64_long;

  template <class T, class Int>
  const Entries<T, Int>& entries() const {
    constexpr bool kIsLong = sizeof(Int) == 8;
    if constexpr (sizeof(T) == 4 && kIsLong) {
      return f32_long;
    } else if constexpr (sizeof(T) == 4) {
      return f32;
    } else if constexpr (kIsLong) {
      return f64_long;
    } else {
      return f64;
    }
  }
};

template <class F>
bool find(const Library& library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library.file, name));
  return function != nullptr;
}

/// False when a function that every cuBLAS has is missing.
bool find_all(Library& x) {
  find(x, "cublasSgemm_v2_64", x.f32_long.single);
  find(x, "cublasDgemm_v2_64", x.f64_long.single);
  find(x, "cublasSgemmStridedBatched_64", x.f32_long.batched);
  find(x, "cublasDgemmStridedBatched_64", x.f64_long.batched);
  return find(x, "cublasCreate_v2", x.create) && find(x, "cublasDestroy_v2", x.destroy) &&
         find(x, "cublasSetStream_v2", x.set_stream) &&
         find(x, "cublasSetWorkspace_v2", x.set_workspace) &&
         find(x, "cublasSetMathMode", x.set_math_mode) &&
         find(x, "cublasGetProperty", x.property) && find(x, "cublasSgemm_v2", x.f32.single) &&
         find(x, "cublasDgemm_v2", x.f64.single) &&
         find(x, "cublasSgemmStridedBatched", x.f32.batched) &&
         find(x, "cublasDgemmStridedBatched", x.f64.batched);
}

void check(int status, const char* call) {
  if (status == kSuccess) return;
  // cublasStatus_t: 3 is CUBLAS_STATUS_ALLOC_FAILED.
  throw Error(status == 3 ? ErrorCode::kOutOfMemory : ErrorCode::kDeviceFailure,
              fmt::format("cublas: {} failed with status {}", call, status));
}

/// A handle whose products run on one stream, with memory of their own.
class StreamHandle {
 public:
  StreamHandle(const Library& library, void* stream)
      : library_(library), workspace_(cuda::allocate(kWorkspaceBytes)) {
    try {
      check(library.create(&handle_), "cublasCreate");
      check(library.set_math_mode(handle_, kDefaultMath), "cublasSetMathMode");
      // In this order: a new stream resets the workspace.
      check(library.set_stream(handle_, stream), "cublasSetStream");
      check(library.set_workspace(handle_, workspace_, kWorkspaceBytes), "cublasSetWorkspace");
    } catch (...) {
      close();
      throw;
    }
  }
  ~StreamHandle() { close(); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;

  Handle get() const { return handle_; }

 private:
  /// What cuBLAS recommends for compute capability 9.0, and more than others need.
  static constexpr std::size_t kWorkspaceBytes = 32 << 20;

  void close() {
    if (handle_ != nullptr) library_.destroy(handle_);
    cuda::release(workspace_);
  }

  const Library& library_;
  void* workspace_ = nullptr;
  Handle handle_ = nullptr;
};

/// One operand as cuBLAS sees it: column-major, transposed or not.
struct Factor {
  int op = kOpN;
  std::int64_t ld = 1, batch_stride = 0;
};

/// `is_turned`: a row-major matrix read as column-major is its transpose.
Factor factor_of(const OperandDesc& x, Op op, bool is_turned) {
  const std::int64_t run = x.layout == Layout::kRowMajor ? x.cols : x.rows;
  // An ld that is never used to step may be anything here, but not for cuBLAS.
  return {(op == Op::kT) != is_turned ? kOpT : kOpN, std::max({x.ld, run, std::int64_t{1}}),
          x.batch_stride};
}

/// The arguments of a case for cuBLAS.
struct Call {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Factor first, second, result;
  bool is_swapped = false;  ///< the first factor is the caller's B

  explicit Call(const Case& c) : m(c.m), n(c.n), k(c.k), batch(c.desc.batch) {
    const GemmDesc& d = c.desc;
    // A row-major C is C^T for cuBLAS, and C^T = op(B)^T op(A)^T.
    is_swapped = d.c.layout == Layout::kRowMajor;
    const auto turned = [&](const OperandDesc& x) {
      return (x.layout == Layout::kRowMajor) != is_swapped;
    };
    first = factor_of(d.a, d.op_a, turned(d.a));
    second = factor_of(d.b, d.op_b, turned(d.b));
    result = factor_of(d.c, Op::kN, false);
    if (is_swapped) {
      std::swap(first, second);
      std::swap(m, n);
    }
  }

  bool passes_int() const {
    const std::int64_t largest = std::max({m, n, k, batch, first.ld, second.ld, result.ld});
    return largest > std::numeric_limits<int>::max();
  }
};

template <class T, class Int>
RunProduct product(const Library& library, std::shared_ptr<StreamHandle> handle, const Case& c,
                   const Call& call) {
  const Entries<T, Int> entries = library.entries<T, Int>();
  if (entries.single == nullptr || entries.batched == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                "cublas: " + case_text(c) + ": a size passes 2147483647, which needs cuBLAS 12");
  }
  const auto alpha = static_cast<T>(c.alpha), beta = static_cast<T>(c.beta);
  return [=](const Pointers& x) {
    const auto* first = static_cast<const T*>(call.is_swapped ? x.b : x.a);
    const auto* second = static_cast<const T*>(call.is_swapped ? x.a : x.b);
    const auto int_of = [](std::int64_t value) { return static_cast<Int>(value); };
    if (call.batch == 1) {
      check(entries.single(handle->get(), call.first.op, call.second.op, int_of(call.m),
                           int_of(call.n), int_of(call.k), &alpha, first, int_of(call.first.ld),
                           second, int_of(call.second.ld), &beta, static_cast<T*>(x.c),
                           int_of(call.result.ld)),
            "gemm");
    } else {
      check(entries.batched(handle->get(), call.first.op, call.second.op, int_of(call.m),
                            int_of(call.n), int_of(call.k), &alpha, first, int_of(call.first.ld),
                            call.first.batch_stride, second, int_of(call.second.ld),
                            call.second.batch_stride, &beta, static_cast<T*>(x.c),
                            int_of(call.result.ld), call.result.batch_stride, int_of(call.batch)),
            "gemmStridedBatched");
    }
  };
}

class Cublas : public Peer {
 public:
  Cublas(const Library& library, PeerInfo info) : library_(library), info_(std::move(info)) {}

  const PeerInfo& info() const override { return info_; }

  RunProduct prepare(const Case& c, int, void* stream) override {
    if (c.desc.space != Space::kCuda) {
      throw Error(ErrorCode::kUnsupported,
                  "cublas: " + case_text(c) + ": the operands must lie on a GPU");
    }
    if (c.desc.input_dtype() != DType::kF32 && c.desc.input_dtype() != DType::kF64) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("cublas: {}: the type must be f32 or f64", case_text(c)));
    }
    const Call call(c);
    // The product's own, so that it goes before the stream does.
    const int device = c.desc.device < 0 ? cuda::current_device() : c.desc.device;
    const cuda::DeviceGuard guard(device);
    const auto handle = std::make_shared<StreamHandle>(library_, stream);
    const bool is_f32 = c.desc.dtype == DType::kF32;
    if (call.passes_int()) {
      return is_f32 ? product<float, std::int64_t>(library_, handle, c, call)
                    : product<double, std::int64_t>(library_, handle, c, call);
    }
    return is_f32 ? product<float, int>(library_, handle, c, call)
                  : product<double, int>(library_, handle, c, call);
  }

 private:
  const Library& library_;
  PeerInfo info_;
};

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> files;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

/// What to give dlopen, best first.
std::vector<std::string> candidates() {
  const char* named = std::getenv("TESSERA_CUBLAS");
  if (named != nullptr && *named != '\0') return {named};
  std::vector<std::string> out = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  std::vector<std::string> folders = {"/usr/local/cuda/lib64",
                                      "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib",
                                      "/usr/lib/python3/dist-packages/nvidia/*/lib"};
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv != nullptr && *venv != '\0') {
    folders.insert(folders.begin() + 1,
                   std::string(venv) + "/lib/python3*/site-packages/nvidia/*/lib");
  }
  for (const std::string& folder : folders) {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      for (std::string& file : files_like(folder + "/" + name)) out.push_back(std::move(file));
    }
  }
  return out;
}

/// The first of the candidates that opens. `fault` holds what the loader said of the first.
void* open_file(std::string* fault) {
  for (const std::string& file : candidates()) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (fault->empty()) *fault = dlerror();
  }
  return nullptr;
}

PeerInfo describe(const Library& library) {
  PeerInfo info;
  info.name = "cublas";
  // libraryPropertyType: major, minor, patch.
  int version[3] = {};
  for (int i = 0; i < 3; ++i) check(library.property(i, &version[i]), "cublasGetProperty");
  info.version = fmt::format("{}.{}.{}", version[0], version[1], version[2]);
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(library.create), &where) != 0) info.library = where.dli_fname;
  // Each changes what a product in the default mode computes.
  for (const char* name : {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                           "CUBLAS_EMULATE_DOUBLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      info.notes.push_back(
          fmt::format("{}={} is set: its arithmetic may not be that of the operands", name, value));
    }
  }
  return info;
}

}  // namespace

std::shared_ptr<Peer> open_cublas(std::string* why_not) {
  if (cuda::devices().empty()) {
    *why_not = "cublas: " + cuda::unavailable_reason();
    return nullptr;
  }
  // Never closed: products that were prepared may outlive every peer.
  auto& library = *new Library;
  std::string fault;
  library.file = open_file(&fault);
  if (library.file == nullptr) {
    *why_not = "cublas: " + fault + "; TESSERA_CUBLAS may name the file";
    return nullptr;
  }
  try {
    if (find_all(library)) return std::make_shared<Cublas>(library, describe(library));
    *why_not = std::string("cublas: ") + dlerror();
  } catch (const Error& e) {
    *why_not = e.what();
  }
  return nullptr;
}

}  // namespace tessera::bench
