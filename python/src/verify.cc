// tessera::verify over arrays of any strides.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <optional>
#include <tuple>

#include "array.h"
#include "bindings.h"
#include "raise.h"
#include "tessera/error.h"
#include "tessera/verify.h"

namespace tessera::python {
namespace {

template <class T>
void read_as(const Strided& x, std::int64_t row, std::int64_t col, std::int64_t rows,
             std::int64_t cols, double* out, std::int64_t ld_out) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      T value;  // the address may be no multiple of the element's size
      std::memcpy(&value, x.data + (row + i) * x.strides[0] + (col + j) * x.strides[1],
                  sizeof value);
      out[i * ld_out + j] = static_cast<double>(value);
    }
  }
}

MatrixSource source_of_array(const Strided& x) {
  if (x.ndim != 2) {
    raise(PyExc_ValueError, fmt::format("verify: {} has shape {}: a matrix, with 2 dimensions, is "
                                        "needed",
                                        x.name, x.shape_text()));
  }
  if (x.space != Space::kHost) {
    raise(PyExc_ValueError, fmt::format("verify: {} is in memory of cuda:{}: it must be in host "
                                        "memory",
                                        x.name, x.device));
  }
  MatrixSource source;
  source.rows = x.shape[0];
  source.cols = x.shape[1];
  source.read = [&x](auto... arguments) {
    x.dtype == DType::kF32 ? read_as<float>(x, arguments...) : read_as<double>(x, arguments...);
  };
  return source;
}

VerifyReport verify_arrays(nb::handle a_object, nb::handle b_object, nb::handle c_object,
                           double alpha, double beta, nb::handle c0_object, bool trans_a,
                           bool trans_b, bool full, int rounds, std::uint64_t seed) {
  const Array a("verify", "a", a_object), b("verify", "b", b_object), c("verify", "c", c_object);
  std::optional<Array> c0;
  if (!c0_object.is_none()) c0.emplace("verify", "c0", c0_object);
  for (const Strided* x : {static_cast<const Strided*>(&b), static_cast<const Strided*>(&c),
                           c0 ? static_cast<const Strided*>(&*c0) : nullptr}) {
    if (x != nullptr && x->dtype != a.dtype) {
      raise(PyExc_TypeError, fmt::format("verify: {} must have the dtype of a", x->name));
    }
  }
  if (beta != 0 && !c0) {
    raise(PyExc_ValueError,
          fmt::format("verify: beta is {}: c0, which it scaled, is needed", beta));
  }
  VerifyProblem problem;
  problem.op_a = trans_a ? Op::kT : Op::kN;
  problem.op_b = trans_b ? Op::kT : Op::kN;
  problem.alpha = alpha;
  problem.beta = beta;
  problem.a = source_of_array(a);
  problem.b = source_of_array(b);
  problem.c = source_of_array(c);
  if (c0) problem.c0 = source_of_array(*c0);
  problem.precision = a.dtype == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
  problem.c_dtype = c.dtype;
  VerifyOptions options;
  options.method = full ? VerifyMethod::kFull : VerifyMethod::kFreivalds;
  options.rounds = rounds;
  options.seed = seed;
  options.progress = [](double) {
    check_signals();
    return true;
  };
  const nb::gil_scoped_release no_gil;
  return verify(problem, options);
}

// For pickle and copy.
using State = std::tuple<bool, int, int, double, double, std::int64_t, std::int64_t, std::int64_t,
                         double, double, double>;

State state_of(const VerifyReport& r) {
  return {r.passed,
          static_cast<int>(r.method),
          r.rounds,
          r.worst_ratio,
          r.detectable_error,
          r.rows_rechecked,
          r.row,
          r.col,
          r.expected,
          r.got,
          r.bound};
}

void set_state(VerifyReport& r, const State& state) {
  int method = 0;
  std::tie(r.passed, method, r.rounds, r.worst_ratio, r.detectable_error, r.rows_rechecked, r.row,
           r.col, r.expected, r.got, r.bound) = state;
  r.method = static_cast<VerifyMethod>(method);
}

}  // namespace

void bind_verify(nb::module_& m) {
  nb::class_<VerifyReport>(m, "VerifyReport", "What a check found; true when the product is right.")
      .def_ro("passed", &VerifyReport::passed)
      .def_prop_ro("method",
                   [](const VerifyReport& r) {
                     return r.method == VerifyMethod::kFull ? "full" : "freivalds";
                   })
      .def_ro("rounds", &VerifyReport::rounds)
      .def_ro("worst_ratio", &VerifyReport::worst_ratio)
      .def_ro("detectable_error", &VerifyReport::detectable_error)
      .def_ro("rows_rechecked", &VerifyReport::rows_rechecked)
      .def_ro("row", &VerifyReport::row, "of the first wrong element; -1 when there is none")
      .def_ro("col", &VerifyReport::col)
      .def_ro("expected", &VerifyReport::expected)
      .def_ro("got", &VerifyReport::got)
      .def_ro("bound", &VerifyReport::bound)
      .def("__getstate__", &state_of)
      .def("__setstate__",
           [](VerifyReport& r, const State& state) {
             new (&r) VerifyReport;
             set_state(r, state);
           })
      .def("__bool__", [](const VerifyReport& r) { return r.passed; })
      .def("__repr__", [](const VerifyReport& r) { return fmt::format("<{}>", r.to_string()); })
      .def("__str__", &VerifyReport::to_string);
  m.def("verify", &verify_arrays, nb::arg("a").none(), nb::arg("b").none(), nb::arg("c").none(),
        nb::arg("alpha"), nb::arg("beta"), nb::arg("c0").none(), nb::arg("trans_a"),
        nb::arg("trans_b"), nb::arg("full"), nb::arg("rounds"), nb::arg("seed"));
}

}  // namespace tessera::python
