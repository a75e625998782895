// The C functions that a library of tensors offers beside DLPack's Python methods (version 1.3 of
// its specification): they read and make its tensors without any Python object in between.
#pragma once

#include <cstdint>

#include "dlpack.h"

namespace tessera::python {

struct DlVersion {
  std::uint32_t major, minor;
};

/// DLManagedTensorVersioned: a tensor that its deleter gives back.
struct DlManaged {
  DlVersion version;
  void* context;
  void (*deleter)(DlManaged* self);
  std::uint64_t flags;
  DlTensor tensor;
};

/// DLPackExchangeAPI. Functions return 0, or -1 with a Python error set.
struct DlExchange {
  DlVersion version;
  DlExchange* previous;
  int (*allocate)(DlTensor* prototype, DlManaged** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DlManaged** out);
  int (*object_from_managed)(DlManaged* tensor, void** out);  // takes the tensor
  int (*tensor_from_object)(void* object, DlTensor* out);     // valid as long as the object is
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** out);
};

}  // namespace tessera::python
