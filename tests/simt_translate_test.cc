// What the rewriter makes of CUDA C++: text in, properties out.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simt/source/assembly.h"
#include "simt/source/columns.h"
#include "simt/source/translate.h"

namespace tessera::simt {
namespace {

/// Line `line` of the program in the translation.
std::string line_of(const Translation& translation, int line) {
  const std::string mark = "# 1 \"k.cu\"\n";
  std::size_t at = translation.text.find(mark) + mark.size();
  for (; line > 1; --line) at = translation.text.find('\n', at) + 1;
  return translation.text.substr(at, translation.text.find('\n', at) - at);
}

Translation translated(const std::string& text) { return translate(text, "k.cu"); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kTwoKernels =
    "__global__ void plain(float* p, int n) { p[0] = n; }\n"
    "template <int BM, int BN = 8> __global__ void tiled(float* p) { p[BM] = BN; }\n";

struct Launching {
  std::string written, callee;
};

TEST(Translate, LaunchesOfEveryForm) {
  const std::vector<Launching> cases = {
      {"plain<<<1, 2>>>(p, 3);", "plain"},
      {"plain <<< 1, 2 >>> (p, 3);", "plain"},
      {"::plain<<<1, 2>>>(p, 3);", "::plain"},
      {"tiled<16><<<dim3(1, 2), dim3(f<1, 2>(), 3), 4 << 2, s>>>(p);", "tiled<16>"},
      {"tiled<16, int(A<B<3>>::v)><<<g, b>>>(p);", "tiled<16, int(A<B<3>>::v)>"},
      {"tiled<(3 > 2) ? 1 : 2><<<g, b>>>(p);", "tiled<(3>2)?1:2>"},
      {"a::b<C<int>>::plain<<<1, 2>>>(p, 1);", "a::b<C<int>>::plain"},
      {"pointer<<<1, 2>>>(p);", "pointer"},
      {"(*pointer)<<<1, 2>>>(p);", "(*pointer)"},
      {"table[i + 1]<<<1, 2>>>(p);", "table[i+1]"},
      {"object.member<<<1, 2>>>(p);", "object.member"},
      {"object->get(1)<<<1, 2>>>(p);", "object->get(1)"},
      {"if (x > 3) plain<<<1, 2>>>(p, 1); else plain<<<3, 4>>>(p, 1);", "plain"},
      {"CHECK((plain<<<1, 2>>>(p, 1), last()));", "plain"},
      {"for (;;) { auto f = [&] { plain<<<1, 2>>>(p, 1); }; f(); }", "plain"},
      {"return plain<<<1, 2>>>(p, 1);", "plain"},
  };
  for (const Launching& one : cases) {
    SCOPED_TRACE(one.written);
    const Translation result = translated(kTwoKernels + "void f() { " + one.written + " }\n");
    const std::string line = line_of(result, 3);
    EXPECT_FALSE(contains(line, "<<<") || contains(line, ">>>(")) << line;
    EXPECT_TRUE(contains(line, "::simt::launch(simt_site(\"" + one.callee + "\", \"k.cu\", 3, "))
        << line;
    EXPECT_TRUE(contains(line, "), " + one.callee + ").on(")) << line;
    EXPECT_TRUE(contains(line, ").run")) << line;
    EXPECT_TRUE(result.refusals.empty());
  }
}

TEST(Translate, ALaunchNamesItsKernelOrNone) {
  const Translation result =
      translated(kTwoKernels +
                 "void f(K k) { plain<<<1, 2>>>(p, 3); tiled<4><<<1, 2>>>(p); "
                 "k<<<1, 2>>>(p); }\n");
  const std::string line = line_of(result, 3);
  EXPECT_TRUE(contains(line, "\"plain\", \"k.cu\", 3, &::simt_kernel_0")) << line;
  EXPECT_TRUE(contains(line, "\"tiled<4>\", \"k.cu\", 3, &::simt_kernel_1")) << line;
  EXPECT_TRUE(contains(line, "\"k\", \"k.cu\", 3, nullptr")) << line;
  EXPECT_TRUE(contains(result.text,
                       "simt_kernel_1 = {\"tiled\", \"k.cu\", 2, \"int BM, int BN\", "
                       "\"float* p\"}"));
}

TEST(Translate, WhatIsDeducedIsCalledByALambda) {
  for (const std::string kernel : {"template <class T> __global__ void k(T* p) {}",
                                   "__global__ void k(float* p, int n = 2) {}",
                                   "__global__ void k(float*) {} __global__ void k(int*) {}",
                                   "template <class... T> __global__ void k(T... p) {}"}) {
    const std::string line = line_of(translated(kernel + "\nvoid f() { k<<<1, 2>>>(p); }"), 2);
    EXPECT_TRUE(contains(line, "simt_quiet { k(simt_a...); }).on(1, 2).run(p)")) << line;
  }
  const std::string with_address = line_of(
      translated("__global__ void k(float* p, int n = 2) {}\nvoid f() { k<<<1, 2>>>(p); }"), 2);
  EXPECT_TRUE(contains(with_address, "(const void*)+k, [&]")) << with_address;
}

TEST(Translate, LaunchFunctionsLoseTheirCasts) {
  for (const std::string argument : {"(void*)plain", "(const void*)&plain", "&plain", "plain",
                                     "(plain)", "reinterpret_cast<const void*>(plain)",
                                     "reinterpret_cast<void *>(&plain)", "(const void *)(plain)"}) {
    SCOPED_TRACE(argument);
    const std::string line = line_of(
        translated(kTwoKernels + "void f() { cudaLaunchKernel(" + argument + ", g, b, a, 0, s); }"),
        3);
    EXPECT_TRUE(contains(line,
                         "::cudaError_t(::simt::at(simt_site(\"plain\", \"k.cu\", 3, "
                         "&::simt_kernel_0)).pointers("))
        << line;
    EXPECT_FALSE(contains(line, "void*") || contains(line, "void *")) << line;
    EXPECT_TRUE(contains(line, "a, 0, s));")) << line;
  }
  const std::string line =
      line_of(translated(kTwoKernels + "void f() { cudaLaunchKernelEx(&c, tiled<4>, p); }"), 3);
  EXPECT_TRUE(contains(line, ".values(&c, tiled<4>, p));")) << line;
}

TEST(Translate, LinesAndColumnsStay) {
  const std::string text =
      "__global__ void\n__launch_bounds__(256,\n 2) k(float* p) {\n  p[0] = 1;\n}\n"
      "void f(float* p) {\n  k<<<1,\n     2>>>(\n      p);\n  int after = 0;\n}\n"
      "__device__ float g(float x) { return x; }\n";
  const Translation result = translated(text);
  EXPECT_EQ(line_of(result, 1), "           void");
  EXPECT_EQ(line_of(result, 3).substr(0, 14), "    k(float* p");
  EXPECT_TRUE(contains(line_of(result, 3), "{ ::simt_launch_bounds(256, 2);"));
  EXPECT_EQ(line_of(result, 4), "  p[0] = 1;");
  EXPECT_EQ(line_of(result, 9), "      p);");
  EXPECT_EQ(line_of(result, 10), "  int after = 0;");
  EXPECT_EQ(line_of(result, 12), "           float g(float x) { return x; }");
}

TEST(Translate, SystemHeadersAreLeftAlone) {
  const std::string header = "__device__ int x; void f() { a<<<1>>>(2); } __shared__ q\n";
  const Translation result =
      translated("# 1 \"/usr/include/h.h\" 1 3\n" + header + "# 2 \"k.cu\" 2\nint y;\n");
  EXPECT_TRUE(contains(result.text, header));
  EXPECT_TRUE(result.refusals.empty());
}

struct SharedForm {
  std::string written, result;
};

TEST(Translate, SharedArraysBecomeReferences) {
  const std::vector<SharedForm> cases = {
      {"__shared__ float x[4][5];", "float (&x)[4][5] = simt_static(x, \"x\", \"k.cu\", 1, 1);"},
      {"__shared__ T x;", "T (&x) = simt_static(x, \"x\", \"k.cu\", 1, 1);"},
      {"__shared__ float *x;", "float *(&x) = simt_static("},
      {"static __shared__ int x[A<1, 2>::v];", "int (&x)[A<1, 2>::v] = simt_static("},
      {"volatile __shared__ int x[2];", "volatile int (&x)[2] = "},
      {"__shared__ volatile int x[2];", "volatile int (&x)[2] = "},
      {"__shared__ __align__(16) float x[4];",
       "float (&x)[4] = simt_static(x, \"x\", \"k.cu\", 1, 16);"},
      {"alignas(32) __shared__ float x[4];",
       "float (&x)[4] = simt_static(x, \"x\", \"k.cu\", 1, 32);"},
      {"__shared__ __attribute__((aligned(8))) char x[4];", "\"k.cu\", 1, 8);"},
      {"__shared__ struct { int a, b; } x[4];", "struct { int a, b; } (&x)[4] = "},
      {"__shared__ std::array<std::pair<int, int>, 3> x;",
       "std::array<std::pair<int, int>, 3> (&x) = "},
      {"__shared__ typename T::type x[N - 1];", "typename T::type (&x)[N - 1] = "},
      {"extern __shared__ float x[];", "float (&x)[] = simt_dynamic(x, \"x\", 1);"},
      {"extern float __shared__ x[];", "float (&x)[] = simt_dynamic("},
      {"__shared__ extern __align__(16) char x[];", "char (&x)[] = simt_dynamic("},
  };
  for (const SharedForm& one : cases) {
    SCOPED_TRACE(one.written);
    const Translation result =
        translated("template <int N, class T> __device__ void f() { " + one.written + " x; }");
    std::string line = line_of(result, 1);
    for (std::size_t at = 0; (at = line.find("  ")) != std::string::npos;) line.erase(at, 1);
    EXPECT_TRUE(contains(line, one.result)) << line;
    EXPECT_FALSE(contains(line, "__shared__") || contains(line, "extern")) << line;
    EXPECT_TRUE(result.refusals.empty());
  }
  const std::string two = line_of(translated("__device__ void f() { __shared__ int x[2], y; }"), 1);
  EXPECT_TRUE(contains(two, "(&x)[2] = simt_static(x, ")) << two;
  EXPECT_TRUE(contains(two, ", (&y) = simt_static(y, ")) << two;
}

TEST(Translate, SharedArraysOfAFileReachTheFunctionsThatNameThem) {
  const Translation result = translated(
      "__shared__ float tile[16][17];\nextern __shared__ char raw[];\n"
      "__global__ void a(float* p) { p[0] = tile[0][0]; }\n"
      "__global__ void b(float* p) { p[0] = raw[0]; }\n"
      "__global__ void c(float* tile) { tile[0] = p.raw; }\n");
  EXPECT_TRUE(contains(line_of(result, 1), "extern            float simt_type_tile[16][17];"));
  EXPECT_TRUE(contains(line_of(result, 3), "{ auto& tile = ::simt::shared<"));
  EXPECT_TRUE(contains(line_of(result, 4), "{ auto& raw = simt_dynamic("));
  EXPECT_FALSE(contains(line_of(result, 5), "auto&"));
}

TEST(Translate, SharedMemoryThatCannotBeReadIsNamed) {
  const Translation result = translated("__device__ void f() {\n  __shared__ float x = 3;\n}");
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].what, "__shared__");
  EXPECT_EQ(result.refusals[0].line, 2);
}

TEST(Translate, Signatures) {
  const Translation result = translated(
      "namespace ns {\nstruct S { static __global__ void inside(int) {} };\n"
      "template <int BM, typename T = float, class... R> __global__ void __launch_bounds__(BM * "
      "2)\n"
      "    k(const T *__restrict__ A, T const* B, float C[], const int n, unsigned long long m,\n"
      "      std::pair<int, T*> q, const float* const d) { int y = threadIdx.y; }\n}\n"
      "__global__ void later(float* p);\n__global__ void later(float* q) {}\n");
  ASSERT_EQ(result.kernels.size(), 3u);
  EXPECT_EQ(result.kernels[0].qualified_name, "ns::S::inside");
  EXPECT_EQ(result.kernels[0].parameters[0].type, "int");
  EXPECT_EQ(result.kernels[0].parameters[0].name, "");
  const Signature& k = result.kernels[1];
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.qualified_name, "ns::k");
  EXPECT_EQ(k.line, 4);
  EXPECT_EQ(k.launch_bounds, "BM*2");
  EXPECT_TRUE(k.uses_thread_y);
  ASSERT_EQ(k.template_parameters.size(), 3u);
  EXPECT_EQ(k.template_parameters[0].type + " " + k.template_parameters[0].name, "int BM");
  EXPECT_EQ(k.template_parameters[1].type + " " + k.template_parameters[1].name, "typename T");
  EXPECT_EQ(k.template_parameters[2].type + " " + k.template_parameters[2].name, "typename... R");
  const std::vector<std::string> expected = {
      "const T* A",           "const T* B",          "float* C",      "int n",
      "unsigned long long m", "std::pair<int,T*> q", "const float* d"};
  ASSERT_EQ(k.parameters.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(k.parameters[i].type + " " + k.parameters[i].name, expected[i]);
  }
  EXPECT_EQ(result.kernels[2].line, 8);
  EXPECT_EQ(result.kernels[2].parameters[0].name, "q");
  EXPECT_FALSE(result.kernels[2].uses_thread_y);
}

TEST(Translate, HostFunctions) {
  const Translation result = translated(
      "extern \"C\" void solve(const float* A, const float* B, float* C, int M, int N, int K) "
      "{\n}\n"
      "int main() { return 0; }\n");
  EXPECT_TRUE(result.has_main);
  ASSERT_EQ(result.solves.size(), 1u);
  EXPECT_EQ(result.solves[0].line, 1);
  EXPECT_EQ(result.solves[0].parameters[5].name, "K");
  const Translation none = translated("int main(); struct S { int main() { return 1; } };");
  EXPECT_FALSE(none.has_main);
  EXPECT_TRUE(none.solves.empty());
}

TEST(Translate, Constants) {
  const Translation result = translated(
      "#define TILE 16\n#define AREA (TILE * TILE)\n#define NAME \"x\"\n#define F(x) x\n"
      "constexpr int BM = 64, BK = 16 / 2; static const unsigned WARPS{4u};\n"
      "namespace n { const int kShift = 1 << 3; }\nenum { TM = 8, TN };\nint variable = 3;\n"
      "constexpr float kHalf = 0.5f;\nconstexpr int kUnknown = sizeof(int);\n");
  std::string all;
  for (const Constant& one : result.constants) all += one.name + "=" + one.value + " ";
  EXPECT_EQ(all, "TILE=16 AREA=256 BM=64 BK=8 WARPS=4 kShift=8 TM=8 ");
  EXPECT_FALSE(contains(result.text, "#define TILE"));
}

TEST(Translate, WhatALoneKernelIsDrivenBy) {
  const Translation result = translated(
      "typedef float real_t;\nusing element = real_t;\nusing wide = unsigned long long;\n"
      "typedef int* pointer;\nusing list = std::vector<int>;\n"
      "template <int BM, int BN = BM * 2, typename T = element> __global__ void k(T* p);\n"
      "template <int BM, int BN, typename T>\n"
      "__global__ void k(T* p) { __shared__ T s[BM][BN+1];p[blockIdx.x]=s[0][0]; }\n"
      "# 1 \"solve.h\" 1\nextern \"C\" void solve(const float* A, int N) { k<4><<<1, 2>>>(A); }\n");
  ASSERT_EQ(result.kernels.size(), 1u);
  const Signature& k = result.kernels[0];
  EXPECT_EQ(k.body, "__shared__ T s [ BM ] [ BN + 1 ] ; p [ blockIdx . x ] = s [ 0 ] [ 0 ] ;");
  ASSERT_EQ(k.template_parameters.size(), 3u);
  EXPECT_EQ(k.template_parameters[0].default_value, "");
  EXPECT_EQ(k.template_parameters[1].default_value, "BM*2");
  EXPECT_EQ(k.template_parameters[2].default_value, "element");
  std::string all;
  for (const Constant& one : result.aliases) all += one.name + "=" + one.value + " ";
  EXPECT_EQ(all, "real_t=float element=float wide=unsigned long long ");
  ASSERT_EQ(result.solves.size(), 1u);
  EXPECT_EQ(result.solves[0].file, "solve.h");
  EXPECT_EQ(result.solves[0].line, 1);
}

TEST(Translate, ABodyHoldsWhatItCalls) {
  const Translation result = translated(
      "__device__ int add(int x, int y) { return x + y; }\n"
      "template <int T, class V> __device__ void part(V* p, int at, int n) { p[at + n] = add(at, "
      "T); }\n"
      "__device__ void unused() { other(); }\n"
      "__global__ void k(float* C, int N) { int row = threadIdx.y; part<16>(C, row, N + 1); }\n");
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_EQ(result.kernels[0].body,
            "int row = threadIdx . y ; part < 16 > ( C , row , N + 1 ) ; ; const int T = 16 ; "
            "C [ row + n ] = add ( row , T ) ; return row + T ;");
  EXPECT_TRUE(result.kernels[0].uses_thread_y);
}

TEST(Translate, BlocksThatTalk) {
  EXPECT_TRUE(translated("__global__ void k(int* p) { atomicAdd(p, 1); }").talks_between_blocks);
  EXPECT_TRUE(translated("__global__ void k(int* p) { __threadfence(); }").talks_between_blocks);
  EXPECT_TRUE(translated("__global__ void k(volatile int* p) { }").talks_between_blocks);
  EXPECT_FALSE(translated("__global__ void k(int* p) { asm volatile(\"bar.sync 0;\"); }")
                   .talks_between_blocks);
}

struct Refused {
  std::string text, what;
};

TEST(Translate, RefusalsByNameAndLine) {
  const std::vector<Refused> cases = {
      {"__global__ void k() { asm volatile(\"wgmma.fence.sync.aligned;\"); }",
       "wgmma.fence.sync.aligned"},
      {"__device__ void k() { asm(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1];\" : "
       "\"=r\"(x) : \"r\"(y)); }",
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
      {"__device__ void k() { asm(\"bar.sync 1, 64;\"); }", "bar.sync"},
      {"__device__ void k() { asm(\"cp.async.bulk.commit_group;\"); }",
       "cp.async.bulk.commit_group"},
      {"__device__ void k() { asm(\"griddepcontrol.wait;\"); }", "griddepcontrol.wait"},
      {"void f() { cublasSgemm(h); }", "cublasSgemm"},
      {"void f() { cudnnCreate(h); }", "cudnnCreate"},
      {"thrust::device_vector<int> v;", "thrust::device_vector"},
      {"typedef cub::BlockReduce<int, 3> R;", "cub::BlockReduce"},
      {"__global__ void k() { nvcuda::wmma::fill(f); }", "wmma"},
      {"void f() { cudaGraphLaunch(g, s); }", "cudaGraphLaunch"},
      {"void f() { cudaStreamBeginCapture(s, m); }", "cudaStreamBeginCapture"},
      {"void f() { cudaLaunchCooperativeKernel(k); }", "cudaLaunchCooperativeKernel"},
      {"__global__ void k() { cg::this_grid().sync(); }", "this_grid().sync"},
      {"__global__ void k() { auto g = cg::this_grid(); g.sync(); }", "grid sync"},
      {"__global__ void k() { auto g = cg::this_grid(); cg::sync(g); }", "grid sync"},
      {"__global__ void k() { auto t = cg::tiled_partition<64>(b); }", "tiled_partition<64>"},
      {"__global__ void k() { cg::thread_block_tile<128> t; }", "thread_block_tile<128>"},
      {"__global__ void k() { __shared__ cg::block_tile_memory<256> m; }", "block_tile_memory"},
      {"__global__ void k() { k<<<1, 2>>>(); }", "k<<<...>>>"},
      {"__global__ void k() { x = tex2D<float>(t, 1, 2); }", "tex2D"},
      {"__global__ void k() { cuda::barrier<x> b; }", "cuda::barrier"},
      {"__global__ void __cluster_dims__(2, 1, 1) k() { }", "__cluster_dims__"},
  };
  for (const Refused& one : cases) {
    SCOPED_TRACE(one.text);
    const Translation result = translated("\n\n" + one.text + "\n");
    ASSERT_EQ(result.refusals.size(), 1u);
    EXPECT_EQ(result.refusals[0].what, one.what);
    EXPECT_EQ(result.refusals[0].line, 3);
    EXPECT_EQ(result.refusals[0].file, "k.cu");
    EXPECT_FALSE(result.refusals[0].why.empty());
  }
  for (const std::string fine :
       {"void f() { object.tex2D(1); int tex1D; }", "void f() { int curand = 1, cubes; }",
        "__global__ void k() { auto g = cg::this_grid(); int r = g.thread_rank(); }",
        "void f() { asm volatile(\"rdtsc\" : \"=a\"(x)); }",
        "__host__ __device__ void f() { __nanosleep(100); }"}) {
    EXPECT_TRUE(translated(fine).refusals.empty()) << fine;
  }
}

TEST(Translate, LibrariesByTheirHeaders) {
  const std::string header =
      "int a;\n\n# 1 \"/usr/include/cublas_v2.h\" 1 3\nint c;\n# 1 \"/usr/include/inner.h\" 1 3\n"
      "# 2 \"/usr/include/cublas_v2.h\" 2 3\n# 4 \"k.cu\" 2\n";
  const Translation used = translated(header + "void f() { cublasCreate(); cublasInit(); }\n");
  ASSERT_EQ(used.refusals.size(), 1u);
  EXPECT_EQ(used.refusals[0].what, "cublasCreate");
  EXPECT_EQ(used.refusals[0].line, 4);
  // A header of which nothing is used is told only if the program does not compile.
  const Translation unused = translated(header + "void f() {}\n");
  EXPECT_TRUE(unused.refusals.empty());
  ASSERT_EQ(unused.doubts.size(), 1u);
  EXPECT_EQ(unused.doubts[0].what, "#include <cublas_v2.h>");
  EXPECT_EQ(unused.doubts[0].line, 3);
}

TEST(Translate, ALoneKernelIsFreedOfWhatItDoesNotCall) {
  const std::string text =
      "cublasHandle_t handle;\nstruct Peer {\n  cublasHandle_t h;\n};\n"
      "void create() { cublasCreate(&handle); }\nvoid peer(Peer p) {\n"
      "# 9 \"k.cu\"\n  create(); }\n"
      "__device__ float twice(float x) { return x + x; }\n"
      "__global__ void cores() { nvcuda::wmma::fill(f); }\n"
      "__global__ void plain(float* p) { p[0] = twice(p[1]); }\n"
      "int main() { peer(Peer()); plain<<<1, 1>>>(nullptr); }\n";
  EXPECT_EQ(translated(text).refusals.size(), 2u);
  const Translation result = translate_for("plain", text, "k.cu");
  EXPECT_TRUE(result.refusals.empty());
  ASSERT_EQ(result.kernels.size(), 1u);
  EXPECT_EQ(result.kernels[0].line, 12);
  EXPECT_FALSE(result.has_main);
  for (const std::string gone : {"cublas", "Peer", "wmma", "main"}) {
    EXPECT_FALSE(contains(result.text, gone)) << gone;
  }
  EXPECT_TRUE(contains(result.text, "twice(float x)"));
  EXPECT_TRUE(contains(result.text, "# 9 \"k.cu\"\n"));
  // What the kernel does call is told.
  const Translation cores = translate_for("cores", text, "k.cu");
  ASSERT_EQ(cores.refusals.size(), 1u);
  EXPECT_EQ(cores.refusals[0].what, "wmma");
  EXPECT_EQ(cores.refusals[0].line, 11);
}

TEST(Assembly, KnownInstructions) {
  const std::vector<std::string> operands = {"to", "from", "n", "m", "q"};
  const auto text = [&](const std::string& code) {
    const Assembly result = translate_assembly(code, operands);
    return result.unsupported.empty() ? result.text : "unsupported " + result.unsupported;
  };
  const std::string to = "::simt_shared_pointer(((unsigned long)(to)))";
  const std::string from = "(const void*)((unsigned long)(from))";
  EXPECT_EQ(text("cp.async.ca.shared.global [%0], [%1], 4;\\n"),
            "::simt_copy_async(" + to + ", " + from + ", 4, 4); ");
  EXPECT_EQ(text("  cp.async.cg.shared::cta.global.L2::256B\\t[%0],  [%1], %2,%3 ; "),
            "::simt_copy_async(" + to + ", " + from + ", (n), (m)); ");
  EXPECT_EQ(text("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %4;"),
            "::simt_copy_async(" + to + ", " + from + ", 16, 16); ");
  EXPECT_EQ(
      text("{\\n .reg .pred p;\\n setp.ne.b32 p, %2, 0;\\n @!p cp.async.commit_group;\\n}\\n"),
      "bool simt_r0; simt_r0 = (n) != 0; if (!(simt_r0)) { ::simt_copy_commit();  } ");
  EXPECT_EQ(text("cp.async.wait_group 2;"), "::simt_copy_wait(2); ");
  EXPECT_EQ(text("cp.async.wait_all;"), "::simt_copy_commit(); ::simt_copy_wait(0); ");
  EXPECT_EQ(text("barrier.sync 0;"), "::simt_barrier(); ");
  EXPECT_EQ(text("mov.u32 %2, %%laneid;"), "(n) = ::simt_lane(); ");
  EXPECT_EQ(text("fma.rn.f32 %0, %1, %2, %3;"), "(to) = __builtin_fmaf((from), (n), (m)); ");
  EXPECT_EQ(text("st.shared.v2.f32 [%0 + 8], {%1, %2};"),
            "{ ::simt::vector<float, 2> simt_v; simt_v[0] = (from); simt_v[1] = (n); "
            "*(::simt::vector<float, 2>*)::simt_shared_pointer(((unsigned long)(to) + (unsigned "
            "long)8)) = simt_v; } ");
  EXPECT_EQ(text(""), "(void)0;");
  for (const std::string unknown : {"bar.sync 1;", "bar.sync 0, 64;", "ld.param.u32 %0, [%1];",
                                    "cp.async.bulk.wait_group 0;", "fma.rn.f32 %0, %1, %9, %3;"}) {
    EXPECT_TRUE(text(unknown).starts_with("unsupported ")) << unknown;
  }
}

TEST(Columns, AreThoseOfTheOriginal) {
  EXPECT_EQ(align_line("  a = b + c;", "  a   = b /* x */ +  c;  // d"), "  a   = b         +  c;");
  EXPECT_EQ(align_line("  x[3] = (3) * y;", "  x[T]   = SQ(T)   * y;"), "  x[3] = (3) *       y;");
  EXPECT_EQ(original_column("   k (x) + k", 12, "k<<<1>>>(x)  +   k"), 18);
  EXPECT_EQ(original_column("abc", 9, "abc"), 0);
}

}  // namespace
}  // namespace tessera::simt
