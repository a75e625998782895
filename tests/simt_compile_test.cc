// The compiler's part: real clang on small programs, symbols by nm, messages by their text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "bench/run_program.h"
#include "simt/source/compile.h"
#include "simt/source/diagnostics.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

class Compile : public testing::Test {
 protected:
  std::string write(const std::string& text, const std::string& name = "k.cu") {
    const std::string path = sources_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string built(const Source& source, Build build = Build::kCheck) {
    return compile(read_source(source, folder_), source, build, folder_);
  }

  /// The message of an error, which must be of `code`.
  std::string message_of(const Source& source, ErrorCode code) {
    try {
      built(source);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  static std::string symbols(const std::string& library) {
    return bench::run_program({"nm", "-D", library}).out;
  }

  TemporaryFolder folder_, sources_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kKernels = R"(
#include <vector>
template <int T> __global__ void __launch_bounds__(T * T) tiled(const float* A, float* C, int n) {
  __shared__ float s[T][T + 1], total;
  extern __shared__ float dynamic[];
  static_assert(sizeof(s) == T * (T + 1) * 4);
  s[threadIdx.y][threadIdx.x] = A[n];
  __syncthreads();
  C[n] += s[threadIdx.x][threadIdx.y] + total + dynamic[0];
}
template <class T> __global__ void fill(T* p, T v) { p[threadIdx.x] = v; }
__global__ void plain(float* p, const int* q, int n = 3) { p[0] = n; }
__global__ void copies(float* p) {
  __shared__ __align__(16) float s[64];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(s));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(p));
  asm volatile("cp.async.commit_group;\n" ::: "memory");
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  float a, b, c, d;
  asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p));
  p[0] = a + b + c + d + s[0];
}
struct Big { float a[40]; int n; };
__global__ void by_value(Big big, Big* to) { *to = big; }
template <int T, class K> void run(K k, float* p) {
  k<<<1, T>>>(p, nullptr, 1);
  tiled<T><<<dim3(1, 1), dim3(T, T), 64>>>(p, p, 0);
}
int main() {
  float* p = nullptr;
  run<8>(plain, p);
  fill<<<1, 32>>>(p, 2.0f);
  fill<float><<<1, 32, 0, 0>>>(p, 2);
  plain<<<1, 1>>>(p, NULL, 1);
  plain<<<1, 1>>>(p, nullptr);
  copies<<<1, 1>>>(p);
  by_value<<<1, 1>>>(Big{}, static_cast<Big*>(nullptr));
  void* arguments[] = {&p};
  return cudaLaunchKernel((void*)copies, dim3(1), dim3(32), arguments, 0, 0) != cudaSuccess;
}
)";

TEST_F(Compile, BothBuildsCallTheHooksAndTheExecutor) {
  const Source source = {write(kKernels), {}, ""};
  const Translation translation = read_source(source, folder_);
  EXPECT_TRUE(translation.has_main);
  EXPECT_EQ(translation.kernels.size(), 5u);
  const auto build = [&](Build one) { return compile(translation, source, one, folder_); };
  std::future<std::string> other = std::async(std::launch::async, build, Build::kCount);
  const std::string check = build(Build::kCheck), count = other.get();
  for (const std::string& library : {check, count}) {
    const std::string names = symbols(library);
    for (const std::string name :
         {"simt_hook_read4", "simt_hook_write4", "simt_launch_kernel", "simt_shared",
          "simt_dynamic_shared", "simt_barrier", "simt_copy_async", "simt_launch_bounds"}) {
      EXPECT_TRUE(contains(names, " U " + name + "\n")) << name;
    }
    EXPECT_TRUE(contains(names, " T main\n"));
    EXPECT_TRUE(contains(names, " simt_kernels\n"));
    EXPECT_FALSE(contains(names, "__tsan") || contains(names, "__ubsan") ||
                 contains(names, " memcpy"));
  }
  EXPECT_TRUE(contains(symbols(check), " U simt_hook_index\n"));
  EXPECT_FALSE(contains(symbols(count), " U simt_hook_index\n"));
}

TEST_F(Compile, StructsAreCopiedThroughTheHook) {
  const Source source = {write("struct Big { float a[40]; };\n"
                               "__global__ void k(Big* to, const Big* from) { *to = *from; }\n"),
                         {},
                         ""};
  EXPECT_TRUE(contains(symbols(built(source)), "memcpy\n"));
}

TEST_F(Compile, UserFlags) {
  write("constexpr int kFromHeader = 4;\n", "inner.h");
  const std::string path = write(
      "#include <inner.h>\n#if __cplusplus < 201703L || __cplusplus > 201703L\n#error standard\n"
      "#endif\n#ifndef __CUDACC__\n#error not CUDA\n#endif\n"
      "__global__ void k(float* p) { p[kFromHeader] = TILE; }\n");
  const Source source = {path, {"-I", sources_.path(), "-DTILE=16", "-std=c++17"}, ""};
  const Translation translation = read_source(source, folder_);
  ASSERT_EQ(translation.constants.size(), 2u);
  EXPECT_EQ(translation.constants[0].name + translation.constants[0].value, "TILE16");
  EXPECT_NO_THROW(compile(translation, source, Build::kCheck, folder_));
  EXPECT_TRUE(contains(message_of({path, {"--wild"}, ""}, ErrorCode::kInvalidArgument), "--wild"));
}

TEST_F(Compile, AppendedCodeSeesTheProgram) {
  const Source source = {write("#define TILE 4\n__global__ void k(float* p) { p[0] = 1; }\n"),
                         {},
                         "extern \"C\" void drive(float* p) { k<<<1, TILE>>>(p); }\n"};
  const Translation translation = read_source(source, folder_);
  EXPECT_TRUE(contains(translation.text, "\"<driver>\""));
  EXPECT_TRUE(
      contains(symbols(compile(translation, source, Build::kCheck, folder_)), " T drive\n"));
  ASSERT_EQ(translation.kernels.size(), 1u);
  EXPECT_EQ(translation.kernels[0].line, 2);
  EXPECT_EQ(translation.kernels[0].file, source.path);
}

TEST_F(Compile, ErrorsStandAtTheUsersLineAndColumn) {
  const std::string path = write(
      "__global__ void k(float* p, int n) {\n  p[n] =    unknown + 1;  // x\n}\n"
      "int main() {\n  k<<<1,   2>>>(wrong, 3);\n  k<<<1, 2>>>(3.5, 3);\n}\n");
  const std::string message = message_of({path, {}, ""}, ErrorCode::kBadFile);
  EXPECT_TRUE(contains(message, path + ":2:13: error: use of undeclared identifier 'unknown'\n"
                                       "    p[n] =    unknown + 1;  // x\n              ^"))
      << message;
  EXPECT_TRUE(contains(message, path + ":5:17: error: use of undeclared identifier 'wrong'"))
      << message;
  EXPECT_TRUE(contains(message, path + ":6:15: error: ")) << message;
  EXPECT_FALSE(contains(message, "simt_site")) << message;
}

TEST_F(Compile, ManyErrorsAreCutShort) {
  std::string text = "__global__ void k() {\n";
  for (int i = 0; i < 100; ++i) text += "  x" + std::to_string(i) + " = 1;\n";
  const std::string message = message_of({write(text + "}\n"), {}, ""}, ErrorCode::kBadFile);
  EXPECT_LE(std::count(message.begin(), message.end(), '\n'), 24);
  EXPECT_GE(std::count(message.begin(), message.end(), '\n'), 6);
}

TEST_F(Compile, BadFilesAndLibraries) {
  const std::string nowhere = message_of({"/nowhere/k.cu", {}, ""}, ErrorCode::kBadFile);
  EXPECT_TRUE(contains(nowhere, "cannot read /nowhere/k.cu"));
  EXPECT_TRUE(contains(message_of({folder_.path(), {}, ""}, ErrorCode::kBadFile), "cannot read"));
  const std::string header =
      message_of({write("\n#include \"not_here.h\"\n"), {}, ""}, ErrorCode::kBadFile);
  EXPECT_TRUE(contains(header, "k.cu:2:10: fatal error: 'not_here.h' file not found")) << header;
  const std::string library = message_of(
      {write("#include <cutlass/not_here.h>\nGemm<float> g;\n"), {}, ""}, ErrorCode::kUnsupported);
  EXPECT_TRUE(contains(library, "k.cu:1: note: #include <not_here.h> stands for nothing here."))
      << library;
  EXPECT_TRUE(contains(library, "k.cu:2:1: error: ")) << library;
  built({write("#include <cublas_v2.h>\n#include \"cub/not_here.cuh\"\nint main() {}\n"), {}, ""});
  const std::string missing = message_of(
      {write("int main() {}\n"), {"-lno_such_library_anywhere"}, ""}, ErrorCode::kBadFile);
  EXPECT_TRUE(contains(missing, "does not link")) << missing;
  EXPECT_TRUE(contains(missing, "no_such_library_anywhere")) << missing;
}

TEST_F(Compile, TheFolderVanishes) {
  std::string path;
  {
    TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Diagnostics, PathsOfTheFolderAreLeftOut) {
  const std::string text = readable_errors(
      "In file included from /tmp/f/words/a.h:3:\n/tmp/f/words/a.h:4:5: error: bad thing\n"
      "/tmp/f/words/b.h:4:5: note: own\nk.cu:7:3: note: in instantiation of k<3>\n",
      {"/tmp/f", "", "k.cu"});
  EXPECT_EQ(text, "words/a.h:4:5: error: bad thing\nk.cu:7:3: note: in instantiation of k<3>");
}

}  // namespace
}  // namespace tessera::simt
