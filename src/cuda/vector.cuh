// Several elements side by side, moved by one access.
#pragma once

namespace tessera::cuda {

/// kCount elements, aligned so that the compiler moves them with one instruction.
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Vector {
  T element[kCount];
};

/// One access of kCount elements; `from` must be a multiple of their size in bytes.
template <int kCount, class T>
__device__ Vector<T, kCount> load_vector(const T* from) {
  return *reinterpret_cast<const Vector<T, kCount>*>(from);
}

template <int kCount, class T>
__device__ void store_vector(T* to, const Vector<T, kCount>& value) {
  *reinterpret_cast<Vector<T, kCount>*>(to) = value;
}

/// The first `count` elements, and zeros; reads nothing past them.
template <int kCount, class T>
__device__ Vector<T, kCount> load_first(const T* from, int count) {
  if (count >= kCount) return load_vector<kCount>(from);
  Vector<T, kCount> value{};
#pragma unroll
  for (int e = 0; e < kCount; ++e) {
    if (e < count) value.element[e] = from[e];
  }
  return value;
}

}  // namespace tessera::cuda
