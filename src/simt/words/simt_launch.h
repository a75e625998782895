// Launches and shared arrays, as the rewritten program spells them.
#pragma once

#include <type_traits>
#include <utility>

#include "simt_abi.h"

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

/// A kernel that is no template, launched by its address.
struct simt_typed_kernel {
  const void* address;
  int (*launch)(const simt_dim3& grid, const simt_dim3& block, void** arguments, size_t shared,
                void* stream, const simt_launch_site* site);
};
extern "C" __attribute__((visibility("hidden"))) const simt_typed_kernel simt_typed_kernels[];

namespace simt {

// The executor's own moves of arguments are no accesses of the program.
#define SIMT_QUIET __attribute__((no_sanitize("thread")))

// --- what an argument is

template <class T, class = void>
struct element_name {
  static constexpr char value = std::is_integral<T>::value ? (std::is_signed<T>::value ? 'i' : 'u')
                                                           : (std::is_enum<T>::value ? 'i' : '?');
};
template <>
struct element_name<float> {
  static constexpr char value = 'f';
};
template <>
struct element_name<double> {
  static constexpr char value = 'd';
};
template <>
struct element_name<__half> {
  static constexpr char value = 'h';
};
template <>
struct element_name<__half2> {
  static constexpr char value = 'h';
};
template <>
struct element_name<__nv_bfloat16> {
  static constexpr char value = 'b';
};
template <>
struct element_name<__nv_bfloat162> {
  static constexpr char value = 'b';
};
// float4 and the like: what their first member is.
template <class T>
struct element_name<T, decltype(void(std::declval<T&>().x))> {
  static constexpr char value =
      element_name<typename std::remove_reference<decltype(std::declval<T&>().x)>::type>::value;
};

template <class T, class = void>
struct size_of {
  static constexpr size_t value = 0;  // void, functions, types that are not complete
};
template <class T>
struct size_of<T, decltype(void(sizeof(T)))> {
  static constexpr size_t value = std::is_void<T>::value ? 0 : sizeof(T);
};

template <class T>
SIMT_QUIET inline simt_argument describe(const T& value) {
  simt_argument argument = {SIMT_OTHER, nullptr, 0, 0, 0, '?', false};
  if constexpr (std::is_pointer<T>::value) {
    using Element = typename std::remove_pointer<T>::type;
    argument.kind = SIMT_POINTER;
    if constexpr (!std::is_function<Element>::value)
      argument.pointer = const_cast<const void*>(static_cast<const volatile void*>(value));
    argument.element_bytes = size_of<typename std::remove_cv<Element>::type>::value;
    argument.element = element_name<typename std::remove_cv<Element>::type>::value;
    argument.is_const = std::is_const<Element>::value;
  } else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value) {
    argument.kind = SIMT_INTEGER;
    argument.integer = static_cast<long long>(value);
    argument.element = element_name<T>::value;
  } else if constexpr (std::is_floating_point<T>::value) {
    argument.kind = SIMT_REAL;
    argument.real = static_cast<double>(value);
    argument.element = element_name<T>::value;
  } else {
    argument.element = element_name<T>::value;
    argument.pointer = &value;
    argument.element_bytes = sizeof(T);
  }
  return argument;
}

// --- a call that each thread makes

template <size_t I, class T>
struct leaf {
  T value;
};

template <class F, class Indices, class... T>
struct call;
template <class F, size_t... I, class... T>
struct call<F, std::index_sequence<I...>, T...> : leaf<I, T>... {
  F function;
  template <class... A>
  SIMT_QUIET call(F f, A&&... arguments)
      : leaf<I, T>{static_cast<A&&>(arguments)}..., function(f) {}

  SIMT_QUIET static void body(void* context) {
    auto* self = static_cast<call*>(context);
    self->function(static_cast<leaf<I, T>*>(self)->value...);
  }
  SIMT_QUIET void launch(simt_launch* with) {
    simt_argument arguments[sizeof...(T) + 1] = {
        describe(static_cast<leaf<I, T>*>(this)->value)...};
    with->body = &body;
    with->context = this;
    with->context_bytes = sizeof *this;
    with->arguments = arguments;
    with->argument_count = static_cast<int>(sizeof...(T));
    simt_launch_kernel(with);
  }
};

template <class G>
SIMT_QUIET inline simt_dim3 extents(const G& g) {
  if constexpr (std::is_arithmetic<G>::value || std::is_enum<G>::value) {
    return {static_cast<unsigned>(g), 1, 1};
  } else {
    return {static_cast<unsigned>(g.x), static_cast<unsigned>(g.y), static_cast<unsigned>(g.z)};
  }
}

template <class S>
SIMT_QUIET inline void* stream_pointer(const S& stream) {
  if constexpr (std::is_integral<S>::value || std::is_null_pointer<S>::value) {
    return nullptr;
  } else {
    return (void*)stream;
  }
}

template <class G, class B, class S>
SIMT_QUIET inline simt_launch configured(const simt_launch_site* site, const void* function,
                                         const G& grid, const B& block, size_t shared,
                                         const S& stream) {
  simt_launch launch = {};
  launch.site = site;
  launch.function = function;
  launch.grid = extents(grid);
  launch.block = extents(block);
  launch.dynamic_shared_bytes = shared;
  launch.stream = stream_pointer(stream);
  return launch;
}

// --- k<<<grid, block, shared, stream>>>(arguments)

/// A function whose type converts the arguments.
template <class... P>
struct typed_launch {
  const simt_launch_site* site;
  void (*function)(P...);
  simt_launch with;

  template <class G, class B, class S = int>
  SIMT_QUIET typed_launch& on(const G& grid, const B& block, size_t shared = 0,
                              const S& stream = S()) {
    with = configured(site, reinterpret_cast<const void*>(function), grid, block, shared, stream);
    return *this;
  }
  SIMT_QUIET void run(P... arguments) {
    call<void (*)(P...), std::index_sequence_for<P...>, P...>(function,
                                                              static_cast<P&&>(arguments)...)
        .launch(&with);
  }
};
template <class... P>
SIMT_QUIET inline typed_launch<P...> launch(const simt_launch_site* site, void (*f)(P...)) {
  return {site, f, {}};
}

/// A call whose template arguments follow from the arguments.
template <class F>
struct deduced_launch {
  const simt_launch_site* site;
  const void* address;
  F function;
  simt_launch with;

  template <class G, class B, class S = int>
  SIMT_QUIET deduced_launch& on(const G& grid, const B& block, size_t shared = 0,
                                const S& stream = S()) {
    with = configured(site, address, grid, block, shared, stream);
    return *this;
  }
  template <class... A>
  SIMT_QUIET void run(A... arguments) {
    call<F, std::index_sequence_for<A...>, A...>(function, static_cast<A&&>(arguments)...)
        .launch(&with);
  }
};
template <class F>
SIMT_QUIET inline deduced_launch<F> launch_deduced(const simt_launch_site* site,
                                                   const void* address, F f) {
  return {site, address, f, {}};
}

// --- cudaLaunchKernel and its kin; they return a cudaError_t

template <size_t... I, class G, class B, class S, class... P>
SIMT_QUIET inline int launch_indexed(std::index_sequence<I...> indices, void (*f)(P...),
                                     const G& grid, const B& block, void** arguments, size_t shared,
                                     const S& stream, const simt_launch_site* site) {
  simt_launch with =
      configured(site, reinterpret_cast<const void*>(f), grid, block, shared, stream);
  (void)arguments;
  call<void (*)(P...), decltype(indices), P...>(
      f, *static_cast<typename std::remove_reference<P>::type*>(arguments[I])...)
      .launch(&with);
  return simt_last_error(false);
}
template <class G, class B, class S, class... P>
SIMT_QUIET inline int launch_pointers(void (*f)(P...), const G& grid, const B& block,
                                      void** arguments, size_t shared, const S& stream,
                                      const simt_launch_site* site) {
  return launch_indexed(std::index_sequence_for<P...>(), f, grid, block, arguments, shared, stream,
                        site);
}
template <class T>
struct identity {
  using type = T;
};
template <class G, class B, class S, class... P>
SIMT_QUIET inline int launch_values(void (*f)(P...), const G& grid, const B& block, size_t shared,
                                    const S& stream, const simt_launch_site* site,
                                    typename identity<P>::type... arguments) {
  simt_launch with =
      configured(site, reinterpret_cast<const void*>(f), grid, block, shared, stream);
  call<void (*)(P...), std::index_sequence_for<P...>, P...>(f, static_cast<P&&>(arguments)...)
      .launch(&with);
  return simt_last_error(false);
}

template <auto kKernel>
struct kernel_launcher;
template <class... P, void (*kKernel)(P...)>
struct kernel_launcher<kKernel> {
  static int run(const simt_dim3& grid, const simt_dim3& block, void** arguments, size_t shared,
                 void* stream, const simt_launch_site* site) {
    return launch_pointers(kKernel, grid, block, arguments, shared, stream, site);
  }
};
template <auto kKernel>
simt_typed_kernel typed_kernel() {
  return {reinterpret_cast<const void*>(kKernel), &kernel_launcher<kKernel>::run};
}

struct launch_place {
  const simt_launch_site* site;

  template <class G, class B, class S = int, class... P>
  int pointers(void (*f)(P...), const G& grid, const B& block, void** arguments, size_t shared = 0,
               const S& stream = S()) const {
    return launch_pointers(f, grid, block, arguments, shared, stream, site);
  }
  template <class G, class B, class S = int>
  int pointers(const void* kernel, const G& grid, const B& block, void** arguments,
               size_t shared = 0, const S& stream = S()) const {
    for (const simt_typed_kernel* k = simt_typed_kernels; k->address != nullptr; ++k) {
      if (k->address != kernel) continue;
      return k->launch(extents(grid), extents(block), arguments, shared, stream_pointer(stream),
                       site);
    }
    simt_unsupported("cudaLaunchKernel of a pointer to a template, which has lost its type");
  }
  template <class C, class... P>
  int pointers_ex(const C* config, void (*f)(P...), void** arguments) const {
    simt_refuse_clusters(*config);
    return launch_pointers(f, config->gridDim, config->blockDim, arguments,
                           config->dynamicSmemBytes, config->stream, site);
  }
  template <class C>
  int pointers_ex(const C*, const void*, void**) const {
    simt_unsupported("cudaLaunchKernelExC of a pointer without the kernel's type");
  }
  template <class C, class... P, class... A>
  int values(const C* config, void (*f)(P...), A&&... arguments) const {
    simt_refuse_clusters(*config);  // of the header that declares the configuration
    return launch_values(f, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                         config->stream, site, static_cast<A&&>(arguments)...);
  }
};
inline launch_place at(const simt_launch_site* site) { return {site}; }

// --- __shared__

template <class R>
constexpr simt_shared_array shared_array(const char* name, const char* file, int line,
                                         size_t alignment) {
  using T = typename std::remove_reference<R>::type;
  using Element = typename std::remove_all_extents<T>::type;
  return {name,
          file,
          line,
          sizeof(T),
          alignment > alignof(Element) ? alignment : alignof(Element),
          sizeof(Element),
          {std::extent<T, 0>::value, std::extent<T, 1>::value, std::extent<T, 2>::value,
           std::extent<T, 3>::value},
          0};
}
template <class R>
SIMT_QUIET inline auto& shared(simt_shared_array* array) {
  return *static_cast<typename std::remove_reference<R>::type*>(simt_shared(array));
}
template <class R>
SIMT_QUIET inline auto& dynamic_shared(const char* name, int line) {
  using T = typename std::remove_reference<R>::type;
  using Element = typename std::remove_all_extents<T>::type;
  return *static_cast<T*>(simt_dynamic_shared(name, sizeof(Element), line));
}

// --- ld and st of several elements by one instruction

template <class T, int kCount>
struct vector_of {
  typedef T type __attribute__((vector_size(sizeof(T) * kCount)));
};
template <class T>
struct vector_of<T, 1> {
  typedef T type;
};
template <class T, int kCount>
using vector = typename vector_of<T, kCount>::type;

#undef SIMT_QUIET

}  // namespace simt
