// What a captured graph launches, whoever wrote the kernels: asked of the driver, because the
// runtime knows only the kernels of this program.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "bench/gpu.h"
#include "core/backend.h"
#include "cuda/check.h"
#include "tessera/error.h"

namespace tessera::bench::gpu {
namespace {

/// A function of the driver as it was in `version`; null where the driver is older. Found through
/// the runtime, so that the program starts where there is no driver.
template <class F>
F entry(const char* name, [[maybe_unused]] unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  const bool is_there = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return is_there ? reinterpret_cast<F>(function) : nullptr;
}

/// The driver's functions that tell what a graph holds.
class Driver {
 public:
  Driver()
      : nodes_(entry<PFN_cuGraphGetNodes_v10000>("cuGraphGetNodes", 10000)),
        type_(entry<PFN_cuGraphNodeGetType_v10000>("cuGraphNodeGetType", 10000)),
        params_(entry<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000)),
        function_(entry<PFN_cuKernelGetFunction_v12000>("cuKernelGetFunction", 12000)),
        attribute_(entry<PFN_cuFuncGetAttribute_v2020>("cuFuncGetAttribute", 2020)),
        resident_(entry<PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050>(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050)),
        name_(entry<PFN_cuFuncGetName_v12030>("cuFuncGetName", 12030)) {
    const bool is_complete = nodes_ != nullptr && type_ != nullptr && params_ != nullptr &&
                             function_ != nullptr && attribute_ != nullptr && resident_ != nullptr;
    if (!is_complete) {
      throw Error(ErrorCode::kUnsupported,
                  "cuda: the driver does not tell what a graph holds; CUDA 12.0 or newer does");
    }
  }

  /// In the order in which capture made them.
  std::vector<CUgraphNode> nodes(CUgraph graph) const {
    std::size_t count = 0;
    check(nodes_(graph, nullptr, &count), "cuGraphGetNodes");
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) check(nodes_(graph, nodes.data(), &count), "cuGraphGetNodes");
    return nodes;
  }
  bool is_kernel(CUgraphNode node) const {
    CUgraphNodeType type{};
    check(type_(node, &type), "cuGraphNodeGetType");
    return type == CU_GRAPH_NODE_TYPE_KERNEL;
  }
  CUDA_KERNEL_NODE_PARAMS_v2 params(CUgraphNode node) const {
    CUDA_KERNEL_NODE_PARAMS_v2 params{};
    check(params_(node, &params), "cuGraphKernelNodeGetParams");
    // A library loaded without a context names its kernels by another kind of handle.
    if (params.func == nullptr) check(function_(&params.func, params.kern), "cuKernelGetFunction");
    return params;
  }
  int attribute(CUfunction function, CUfunction_attribute attribute) const {
    int value = 0;
    check(attribute_(&value, attribute, function), "cuFuncGetAttribute");
    return value;
  }
  int resident_blocks(CUfunction function, int threads, std::size_t shared_bytes) const {
    int blocks = 0;
    check(resident_(&blocks, function, threads, shared_bytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }
  /// As the compiler mangled it; empty where unknown.
  std::string name(CUfunction function) const {
    const char* name = nullptr;
    if (name_ == nullptr || name_(&name, function) != CUDA_SUCCESS || name == nullptr) return "";
    return name;
  }

 private:
  static void check(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    throw Error(ErrorCode::kDeviceFailure, std::string("cuda: ") + call + " failed: CUresult " +
                                               std::to_string(static_cast<int>(result)));
  }

  PFN_cuGraphGetNodes_v10000 nodes_;
  PFN_cuGraphNodeGetType_v10000 type_;
  PFN_cuGraphKernelNodeGetParams_v12000 params_;
  PFN_cuKernelGetFunction_v12000 function_;
  PFN_cuFuncGetAttribute_v2020 attribute_;
  PFN_cuOccupancyMaxActiveBlocksPerMultiprocessor_v6050 resident_;
  PFN_cuFuncGetName_v12030 name_;
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

Launch describe(const Driver& driver, CUgraphNode node, int warps_per_sm) {
  const CUDA_KERNEL_NODE_PARAMS_v2 params = driver.params(node);
  const int threads = static_cast<int>(params.blockDimX * params.blockDimY * params.blockDimZ);
  Launch launch;
  launch.function = demangled(driver.name(params.func));
  const unsigned grid[3] = {params.gridDimX, params.gridDimY, params.gridDimZ};
  const unsigned block[3] = {params.blockDimX, params.blockDimY, params.blockDimZ};
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = static_cast<int>(grid[i]);
    launch.block[i] = static_cast<int>(block[i]);
  }
  launch.registers = driver.attribute(params.func, CU_FUNC_ATTRIBUTE_NUM_REGS);
  launch.local_bytes = driver.attribute(params.func, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  launch.shared_bytes = driver.attribute(params.func, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) +
                        static_cast<std::int64_t>(params.sharedMemBytes);
  launch.blocks_per_sm = driver.resident_blocks(params.func, threads, params.sharedMemBytes);
  launch.occupancy =
      static_cast<double>(launch.blocks_per_sm) * ((threads + 31) / 32) / warps_per_sm;
  return launch;
}

}  // namespace

std::vector<Launch> Graph::launches() const {
  int threads_per_sm = 0;
  TESSERA_CUDA_CHECK(cudaDeviceGetAttribute(&threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor,
                                            cuda::current_device()));
  const Driver driver;
  std::vector<Launch> launches;
  for (const CUgraphNode node : driver.nodes(static_cast<CUgraph>(graph_))) {
    if (driver.is_kernel(node)) launches.push_back(describe(driver, node, threads_per_sm / 32));
  }
  return launches;
}

}  // namespace tessera::bench::gpu
