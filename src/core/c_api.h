// What the files of the C interface share: exceptions to statuses, enumerators to types.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "tessera/error.h"
#include "tessera/matrix.h"
#include "tessera/precision.h"
#include "tessera/tessera.h"

namespace tessera::c_api {

/// Keeps the calling thread's message.
void remember(const char* message) noexcept;
const char* last_error() noexcept;
tessera_status status_of(ErrorCode code);

/// Runs f and turns what it throws into a status and the thread's message.
template <class F>
tessera_status guarded(F f) noexcept {
  try {
    f();
    return TESSERA_OK;
  } catch (const Error& e) {
    remember(e.what());
    return status_of(e.code());
  } catch (const std::bad_alloc&) {
    remember("out of host memory");
    return TESSERA_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    remember(e.what());
  } catch (...) {
    remember("an exception of unknown type");
  }
  return TESSERA_INTERNAL;
}

// Each throws Error(kInvalidArgument) for a value that is no enumerator.
[[noreturn]] void refuse(const std::string& message);
Layout layout_of(tessera_layout layout);
Op op_of(const char* name, tessera_op op);
DType dtype_of(tessera_dtype dtype);
/// Of C beside A and B of that type.
DType output_of(tessera_dtype dtype);

}  // namespace tessera::c_api
