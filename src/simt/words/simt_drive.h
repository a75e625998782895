// What the host side of a lone kernel is given. Names end in _ because the checked program, behind
// whose end this is included, may have macros named m, n or k.
#pragma once

struct SimtDrive {  // laid out as DriveArguments of simt/gemm/driver.h
  void *a_, *b_, *c_, *d_;
  long long m_, n_, k_, lda_, ldb_, ldc_;
  double alpha_, beta_;
};

inline long long simt_ceil_div(long long a_, long long b_) { return (a_ + b_ - 1) / b_; }
