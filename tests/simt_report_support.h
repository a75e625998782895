// Made-up results of a check, for tests of its reports.
#pragma once

#include <string>
#include <vector>

#include "simt/report/report.h"

namespace tessera::simt::test {

inline Place place(int line, int column = 0, const std::string& file = "tiled.cu") {
  return {file, line, column, "tiled"};
}

inline Site shared_site(const std::string& array, int line, int bytes, double wavefronts,
                        double ideal) {
  Site s;
  s.kernel = "tiled<16>";
  s.array = array;
  s.place = place(line, 7);
  s.space = Space::kShared;
  s.bytes = bytes;
  s.requests = 100;
  s.lanes = 3200;
  s.wavefronts = static_cast<std::uint64_t>(100 * wavefronts);
  s.ideal_wavefronts = static_cast<std::uint64_t>(100 * ideal);
  return s;
}

/// A global load of 100 requests by 32 lanes each.
inline Site global_site(const std::string& array, int line, int bytes, double sectors, double ideal,
                        double useful_bytes) {
  Site s;
  s.kernel = "tiled<16>";
  s.array = array;
  s.place = place(line, 9);
  s.bytes = bytes;
  s.requests = 100;
  s.lanes = 3200;
  s.sectors = static_cast<std::uint64_t>(100 * sectors);
  s.ideal_sectors = static_cast<std::uint64_t>(100 * ideal);
  s.useful_bytes = static_cast<std::uint64_t>(100 * useful_bytes);
  return s;
}

inline Report with_sites(std::vector<Site> sites) {
  Report r;
  r.path = "tiled.cu";
  r.count.sites = std::move(sites);
  return r;
}

inline Finding war_finding() {
  Finding f;
  f.rule = rule::kSharedWar;
  f.message = "Thread (3,0) may still read As[3][5] when thread (4,1) overwrites it.";
  f.remedy = "Put __syncthreads() after the loop at line 6.";
  f.kernel = "tiled<16>";
  f.place = place(3, 3);
  f.other_place = place(6, 12);
  f.array = "As";
  f.element = "[3][5]";
  f.thread = Thread{{1, 2, 0}, {4, 1, 0}};
  f.other_thread = Thread{{1, 2, 0}, {3, 0, 0}};
  f.phase = 4;
  f.phase_text = "K step 2: the third time between lines 4 and 6";
  f.count = 512;
  return f;
}

/// A bit of everything: a race, good and bad accesses, a launch, a product, a cubin, notes.
inline Report full_report() {
  Report r;
  r.path = "tiled.cu";
  r.source =
      "template <int T> __global__ void tiled(const float* A, const float* B, float* C, int n) {\n"
      "  for (int t = 0; t < n; t += T) {\n"
      "\tAs[ty][tx] = A[row * n + t + tx];  // <script>alert(\"&\")</script>\n"
      "    __syncthreads();\n"
      "    for (int k = 0; k < T; ++k)\n"
      "      acc += As[ty][k] * Bs[k][tx];\n"
      "  }\n"
      "  C[row * n + col] = acc;\n"
      "}\n";
  r.how = "block (16,16), grid (ceil(N/16), ceil(M/16)), derived from T";
  r.check.findings = {war_finding()};
  Launch l;
  l.kernel = "tiled<16>";
  l.place = place(12);
  l.grid = {4, 4, 1};
  l.block = {16, 16, 1};
  l.static_shared_bytes = 2048;
  l.blocks_total = l.blocks_run = 16;
  l.blocks_checked = 16;
  l.gemm = "C(64x64) = A(64x64) * B(64x64), f32, row-major";
  l.m = l.n = l.k = 64;
  r.check.launches = {l};
  r.count.launches = {l};
  Site a = global_site("A", 3, 4, 4, 4, 128), b = global_site("B", 3, 4, 32, 4, 128),
       c = global_site("C", 8, 4, 5, 4, 128);
  b.place.column = 30;
  b.lane_stride = 256;
  c.is_write = true;
  Site as = shared_site("As", 6, 4, 1, 1), bs = shared_site("Bs", 6, 4, 32, 1);
  bs.place.column = 26;
  bs.lane_stride = 64;
  bs.row_pitch = 64;
  bs.worst_degree = 16;
  r.count.sites = {bs, c, a, b, as};
  Compiled k;
  k.kernel = "tiled<16>";
  k.architecture = "sm_90";
  k.registers = 32;
  k.static_shared_bytes = 2048;
  k.blocks_per_sm = 8;
  k.occupancy = 1;
  k.limited_by = "threads";
  r.compiled = {k};
  r.notes = {"Blocks were sampled.", "Blocks were sampled."};
  r.elapsed_s = 0.25;
  return r;
}

}  // namespace tessera::simt::test
