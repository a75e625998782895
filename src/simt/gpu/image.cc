#include "simt/gpu/image.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "simt/report/cubin.h"
#include "simt/source/compile.h"
#include "simt/source/edits.h"
#include "simt/source/words.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

// Plain launches go to the thread's default stream (--default-stream per-thread), which, unlike the
// legacy one, may join a capture. Names end in _ as in simt_drive.h.
constexpr char kEntry[] = R"cu(
extern "C" const char* simt_gpu_run(const SimtDrive* drive_, void* stream_, int waits_) {
  static cudaEvent_t fork_ = nullptr, join_ = nullptr;
  const cudaStream_t outer_ = static_cast<cudaStream_t>(stream_);
  if (fork_ == nullptr) {
    cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join_, cudaEventDisableTiming);
  }
  cudaEventRecord(fork_, outer_);
  cudaStreamWaitEvent(cudaStreamPerThread, fork_, 0);
  simt_drive(drive_);
  cudaError_t error_ = cudaGetLastError();
  if (waits_ && error_ == cudaSuccess) error_ = cudaDeviceSynchronize();
  cudaEventRecord(join_, cudaStreamPerThread);
  cudaStreamWaitEvent(outer_, join_, 0);
  const cudaError_t later_ = cudaGetLastError();
  if (error_ == cudaSuccess) error_ = later_;
  return error_ == cudaSuccess ? nullptr : cudaGetErrorString(error_);
}
)cu";

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw Error(ErrorCode::kOutputFailure, "check: cannot write " + path);
}

/// The header alone: the others stand in for those of CUDA.
void write_drive_header(const std::string& folder) {
  const auto found = std::find_if(words().begin(), words().end(),
                                  [](const Word& w) { return w.name == "simt_drive.h"; });
  std::filesystem::create_directories(folder);
  write_file(folder + "/simt_drive.h", found->text);
}

std::string whole_text(const ImageSource& source) {
  // Both as one file, so that the driver sees the program's macros.
  return fmt::format(
      "#line 1 {}\n{}\n#line 1 \"<driver>\"\n{}\nextern \"C\" const char* simt_gpu_mark() "
      "{{ return \"{}\"; }}\n{}",
      c_string(source.path), source.text, source.driver, mark_of(source), kEntry);
}

}  // namespace

ImageSource image_source(const CheckedProgram& program) {
  if (!program.is_lone()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("check: --gpu runs a lone kernel, and {} has a main: --gemm M,N,K or "
                            "--kernel NAME takes a kernel of it",
                            program.options().path));
  }
  return {program.options().path, program.options().flags, program.source(), program.driver().text};
}

std::string mark_of(const ImageSource& source) {
  // FNV-1a, 64 bits.
  std::uint64_t hash = 0xCBF29CE484222325;
  const auto add = [&](const std::string& text) {
    for (const char c : text + '\0') {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    }
  };
  add(source.text);
  add(source.driver);
  for (const std::string& flag : source.flags) add(flag);
  return fmt::format("{:016x}", hash);
}

void build_image(const std::string& nvcc, const ImageSource& source,
                 const std::string& architecture, const std::string& folder,
                 const std::string& image) {
  const std::string text = folder + "/image.cu", headers = folder + "/image_headers";
  write_file(text, whole_text(source));
  write_drive_header(headers);
  const std::string parent = std::filesystem::path(source.path).parent_path().string();
  std::vector<std::string> words = {nvcc, "-shared", "-arch=" + architecture};
  for (const std::string& flag : nvcc_flags(source.flags)) words.push_back(flag);
  const std::vector<std::string> more = {
      "-I", parent.empty() ? "." : parent, "-isystem", headers, "--default-stream", "per-thread",
      // Several runtimes in one process share the device's context; their symbols must not mix.
      "-cudart", "static", "-Xcompiler", "-fPIC", "-Xlinker", "--exclude-libs=ALL", "-Xlinker",
      "-Bsymbolic", "-o", image, text};
  words.insert(words.end(), more.begin(), more.end());
  const bench::Printed printed = run_compiler(words, folder);
  if (printed.exit_code == 0) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("check: nvcc does not compile {}:\n{}", source.path,
                          printed.err.empty() ? printed.out : printed.err));
}

Image::Image(const std::string& path, const ImageSource& source) {
  // A name without a slash would be searched for.
  void* file = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    throw Error(ErrorCode::kBadFile,
                fmt::format("check: the image {} cannot be opened: {}", path, dlerror()));
  }
  const auto mark = reinterpret_cast<const char* (*)()>(dlsym(file, "simt_gpu_mark"));
  run_ = reinterpret_cast<Run*>(dlsym(file, "simt_gpu_run"));
  if (mark == nullptr || run_ == nullptr) {
    throw Error(ErrorCode::kBadFile, fmt::format("check: {} is no image of --gpu-image", path));
  }
  if (mark() != mark_of(source)) {
    throw Error(ErrorCode::kBadFile,
                fmt::format("check: the image {} is of another source or other options than {}",
                            path, source.path));
  }
}

void Image::run(const DriveArguments& arguments, void* stream, bool waits) const {
  const char* error = run_(&arguments, stream, waits ? 1 : 0);
  if (error != nullptr) throw Error(ErrorCode::kDeviceFailure, error);
}

}  // namespace tessera::simt
