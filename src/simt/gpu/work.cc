#include "simt/gpu/work.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "bench/contest.h"
#include "bench/gpu_handles.h"
#include "core/backend.h"
#include "simt/run/elements.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

using bench::Case;
using bench::PeerInfo;
using bench::Pointers;
using bench::RunProduct;

/// What the program prints must not be taken for the result.
void be_silent() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

DriveArguments arguments_of(const DriveSizes& d, const Pointers& p) {
  DriveArguments x{};
  x.a = const_cast<void*>(p.a), x.b = const_cast<void*>(p.b), x.c = p.c;
  x.m = d.m, x.n = d.n, x.k = d.k;
  x.lda = d.k, x.ldb = d.n, x.ldc = d.n;
  x.alpha = d.alpha, x.beta = d.beta;
  return x;
}

/// Work on other streams than the default one is not ordered with ours.
bool has_streams(const ImageSource& source) {
  return source.text.find("cudaStreamCreate") != std::string::npos;
}

class Matrix {
 public:
  explicit Matrix(const std::vector<char>& host)
      : bytes_(host.size()), memory_(std::max<std::int64_t>(1, std::ssize(host))) {}
  void* data() const { return memory_.as<void>(); }
  void upload(const std::vector<char>& host, void* stream) const {
    if (bytes_ > 0) cuda::copy_to_device(data(), bytes_, host.data(), bytes_, bytes_, 1, stream);
  }
  std::vector<char> download(void* stream) const {
    std::vector<char> host(bytes_);
    if (bytes_ > 0) cuda::copy_to_host(host.data(), bytes_, data(), bytes_, bytes_, 1, stream);
    cuda::synchronise(stream);
    return host;
  }

 private:
  std::size_t bytes_;
  bench::gpu::DeviceMemory memory_;
};

void multiply(const Image& image, bool waits, const GpuWork& work) {
  const DrivenProduct before = read_product(work.file);
  const bench::gpu::Stream stream;
  const Matrix a(before.a), b(before.b), c(before.c_before), d(before.c_before);
  a.upload(before.a, stream.get());
  b.upload(before.b, stream.get());
  const Matrix& output = work.drive.has_d ? d : c;
  if (work.drive.c_is_read) c.upload(before.c_before, stream.get());
  if (work.drive.has_d || !work.drive.c_is_read) {
    // NaN in every type of floating point, -1 in integers.
    bench::gpu::fill(output.data(), 0xFF, before.c_before.size(), stream.get());
  }
  DriveArguments x = arguments_of(work.drive, {a.data(), b.data(), c.data()});
  if (work.drive.has_d) x.d = d.data();
  image.run(x, stream.get(), waits);
  cuda::synchronise(stream.get());
  for (const Matrix* matrix : {&a, &b, &output}) {
    append_matrix(work.result, matrix->download(stream.get()));
  }
}

/// The checked kernel as a contender.
class ImagePeer final : public bench::Peer {
 public:
  ImagePeer(const Image& image, bool waits, const DriveSizes& drive, const std::string& name)
      : image_(image), waits_(waits), drive_(drive) {
    info_.name = name;
  }
  const PeerInfo& info() const override { return info_; }
  RunProduct prepare(const Case&, int, void* stream) override {
    return
        [this, stream](const Pointers& p) { image_.run(arguments_of(drive_, p), stream, waits_); };
  }

 private:
  const Image& image_;
  bool waits_;
  DriveSizes drive_;
  PeerInfo info_;
};

bench::Json row_json(const bench::Row& row, const Case& c) {
  const bool passed = row.disposition == bench::Disposition::kPassed;
  const double median_s = passed ? row.median_s() : 0;
  return {{"name", row.requested},
          {"kernel", row.kernel},
          {"disposition", bench::to_string(row.disposition)},
          {"detail", row.detail},
          {"seconds", median_s},
          {"tflops", passed ? bench::flops_of(c) / median_s / 1e12 : 0},
          {"noise", passed ? row.noise() : 0},
          {"timer", row.timer}};
}

}  // namespace

std::string describe_gpu() {
  const std::vector<DeviceInfo>& devices = cuda::devices();
  if (devices.empty()) throw Error(ErrorCode::kNoDevice, cuda::unavailable_reason());
  const DeviceInfo& d = devices.front();
  return bench::Json{{"name", d.name},
                     {"architecture", fmt::format("sm_{}{}", d.compute_major, d.compute_minor)}}
      .dump();
}

void multiply_on_gpu(const std::string& image, const ImageSource& source,
                     const std::vector<GpuWork>& work) {
  be_silent();
  const cuda::DeviceGuard guard(cuda::devices().at(0).index);
  const Image opened(image, source);
  for (const GpuWork& one : work) multiply(opened, has_streams(source), one);
}

std::string time_on_gpu(const std::string& image, const ImageSource& source,
                        const DriveSizes& drive, const std::string& name) {
  be_silent();
  const int device = cuda::devices().at(0).index;
  const cuda::DeviceGuard guard(device);
  const Image opened(image, source);
  const DType dtype = drive.element == "double" ? DType::kF64 : DType::kF32;
  Case c = bench::dense_case(Op::kN, Op::kN, drive.m, drive.n, drive.k, dtype);
  c.alpha = drive.alpha;
  c.beta = drive.beta;
  bench::Field field;
  field.space = tessera::Space::kCuda;
  field.device = device;
  field.kernels = {"k01_naive", "k02_tiled", "k03_register_tiled"};
  const bench::Peers cublas = bench::open_peers(tessera::Space::kCuda, {"cublas"}, 1);
  field.peers.push_back(std::make_shared<ImagePeer>(opened, has_streams(source), drive, name));
  for (const auto& peer : cublas.found) field.peers.push_back(peer);
  field.timing.seconds = 0.3;
  // An event is worth about half a microsecond, and a graph's start a few.
  field.timing.shortest_sample_s = 10e-3;

  const std::vector<bench::Row> rows = bench::run_case(c, bench::CacheState::kWarm, field);
  bench::Json out = {{"rows", bench::Json::array()}, {"notes", bench::Json::array()}};
  const std::size_t own = field.kernels.size();
  out["rows"].push_back(row_json(rows[own], c));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != own) out["rows"].push_back(row_json(rows[i], c));
  }
  for (const bench::Row& row : rows) {
    for (const std::string& remark : row.remarks) {
      out["notes"].push_back(row.requested + ": " + remark);
    }
  }
  for (const std::string& absent : cublas.absent) out["notes"].push_back("without " + absent);
  return out.dump(-1, ' ', false, bench::Json::error_handler_t::replace);
}

}  // namespace tessera::simt
