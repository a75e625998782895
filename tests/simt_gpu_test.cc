// What `tessera check --gpu` does around the GPU: matrices in files, images, reports.
#include <filesystem>
#include <fstream>

#include "simt/gpu/image.h"
#include "simt/gpu/trial.h"
#include "simt/report/cubin.h"
#include "simt/run/elements.h"
#include "simt/source/compile.h"
#include "simt_gemm_support.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

namespace fs = std::filesystem;
using test::error_of;

ImageSource naive() {
  return {"/somewhere/naive.cu",
          {"-DSCALE=1", "-O2"},
          "__global__ void naive(const float* A, float* C) {\n"
          "  C[threadIdx.x] = SCALE * A[threadIdx.x];\n}\n",
          "\n#include <simt_drive.h>\n"
          "extern \"C\" void simt_drive(const SimtDrive* x) {\n"
          "  naive<<<1, 32>>>((const float*)x->a_, (float*)x->c_);\n}\n"};
}

TEST(DrivenProduct, SurvivesAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/product";
  const std::vector<char> a = {'a', '\0', 'b'}, b, c0 = {'\xFF'};
  for (const auto& matrix : {a, b, c0}) append_matrix(path, matrix);
  EXPECT_EQ(read_product(path).a, a);
  EXPECT_EQ(read_product(path).b, b);
  EXPECT_EQ(read_product(path).c_before, c0);
  EXPECT_TRUE(read_product(path).c.empty()) << "a run that did not end leaves none";
  append_matrix(path, a);
  EXPECT_EQ(read_product(path).c, a);
  fs::resize_file(path, 5);
  error_of(ErrorCode::kBadFile, [&] { read_product(path); });
  error_of(ErrorCode::kBadFile, [&] { read_product(path + "x"); });
}

TEST(Image, BearsItsSource) {
  ImageSource other = naive();
  EXPECT_EQ(mark_of(other), mark_of(naive()));
  other.driver += " ";
  EXPECT_NE(mark_of(other), mark_of(naive()));
  other = naive();
  other.flags[0] = "-DSCALE=2";
  EXPECT_NE(mark_of(other), mark_of(naive()));
  other = naive();
  other.path = "elsewhere.cu";
  EXPECT_EQ(mark_of(other), mark_of(naive())) << "an image may travel";
}

TEST(Image, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/no_image.so";
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { Image(path, naive()); }), "cannot be opened");
  std::ofstream(path) << "text";
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { Image(path, naive()); }), path);
}

TEST(Image, IsBuiltAndOpened) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc";
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/naive.so";
  build_image(nvcc, naive(), "sm_90", folder.path(), path);
  const Image image(path, naive());
  ImageSource other = naive();
  other.text += "\n";
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { Image(path, other); }), "of another source");
  other.text += "wrong;\n";
  try {
    build_image(nvcc, other, "sm_90", folder.path(), path);
    FAIL() << "it compiles";
  } catch (const Error& error) {  // in several lines, which are the compiler's
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_SAYS(error.what(), "/somewhere/naive.cu(5): error");
  }
}

GpuReport report() {
  GpuReport r;
  r.device = {"NVIDIA H200", "sm_90"};
  GpuProduct p;
  p.m = p.n = p.k = 64;
  p.ran = p.executor_ran = p.executor_right = p.executor_clean = true;
  r.products = {p};
  r.m = r.n = r.k = 1024;
  r.times = {{"tiled.cu", "", "passed", "", 5e-4, 4.29, 0.086, 0.001, "graph replay"},
             {"k01_naive", "cuda.naive.f32", "failed", "no memory", 0, 0, 0, 0, ""},
             {"cublas", "", "passed", "", 4.3e-5, 49.9, 1, 0.002, "graph replay"}};
  return r;
}

TEST(GpuReport, Text) {
  const std::string text = to_text(report());
  EXPECT_SAYS(text, "on NVIDIA H200, sm_90\n");
  EXPECT_SAYS(text, "64x64x64: right, as in the executor\n");
  EXPECT_SAYS(text, "times at 1024x1024x1024, graph replay\n");
  EXPECT_SAYS(text, "500.00 us");
  EXPECT_SAYS(text, "8.6%");
  EXPECT_SAYS(text, "failed: no memory");
}

TEST(GpuReport, SaysWhenTheTwoDiffer) {
  GpuReport r = report();
  EXPECT_FALSE(r.failed());
  r.products[0].executor_clean = false;
  EXPECT_SAYS(to_text(r), "luck, not proof");
  r.products[0].differing = 7;
  EXPECT_SAYS(to_text(r), "7 of 4096 elements differ from the executor's");
  Finding f;
  f.rule = rule::kWrongResult;
  f.message = "C is wrong everywhere";
  r.products[0].findings = {f};
  EXPECT_TRUE(r.failed());
  EXPECT_SAYS(to_text(r), "C is wrong everywhere; 7 of 4096 elements differ");
  r.products[0] = {};
  r.products[0].fault = "did not finish within 5 s";
  EXPECT_TRUE(r.failed());
  EXPECT_SAYS(to_text(r), "fails: did not finish within 5 s");
}

TEST(GpuReport, Json) {
  const Json json = to_json(report());
  EXPECT_EQ(json.at("device"), "NVIDIA H200");
  EXPECT_EQ(json.at("failed"), false);
  EXPECT_EQ(json.at("products")[0].at("right"), true);
  EXPECT_EQ(json.at("products")[0].at("differing"), 0);
  EXPECT_EQ(json.at("times")[0].at("of_cublas"), 0.086);
  EXPECT_EQ(json.at("times")[1].at("seconds"), 0);
}

}  // namespace
}  // namespace tessera::simt
