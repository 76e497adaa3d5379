// Operations of the engine on arrays: results go into arrays of the caller.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>

#include <span>

#include "arrays.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/plan/plan.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"

namespace ts::python {

namespace {

using Scalar = std::complex<double>;

template <class T>
T scalar(Scalar z) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_t<T>>(z.real()), static_cast<real_t<T>>(z.imag()));
  else
    return static_cast<T>(z.real());
}

/// body.operator()<T, S>(ctx) for the type and the place of `first`, without Python's lock; waits for a device.
template <class Body>
void run(const Context& ctx, const Operand& first, Body&& body) {
  const nb::gil_scoped_release released;
  with_type(first.type, [&]<class T>() {
    if (first.space == Space::host) return body.template operator()<T, Space::host>(ctx);
    const Context there = context_at(ctx, first);
    body.template operator()<T, Space::device>(there);
    there.stream.synchronize();
  });
}

void gram_of(const Context& ctx, bool adjoint, Scalar alpha, const In& a_, Scalar beta, const Out& c_) {
  const Operand a = operand_of(a_, "a"), c = operand_of(c_, "out");
  run(ctx, a, [&]<class T, Space S>(const Context& at) {
    using R = result_t<T>;
    detail::gram<T>(at, adjoint ? Op::adjoint : Op::transpose, scalar<R>(alpha), a.as<const T, S>("a", at),
                    scalar<R>(beta), c.as<R, S>("out", at));
  });
}

void inner_of(const Context& ctx, bool adjoint, Scalar alpha, const In& a_, const In& b_, Scalar beta, const Out& c_) {
  const Operand a = operand_of(a_, "a"), b = operand_of(b_, "b"), c = operand_of(c_, "out");
  run(ctx, a, [&]<class T, Space S>(const Context& at) {
    using R = result_t<T>;
    detail::tsmttsm<T>(at, adjoint ? Op::adjoint : Op::transpose, scalar<R>(alpha), a.as<const T, S>("a", at),
                       b.as<const T, S>("b", at), scalar<R>(beta), c.as<R, S>("out", at));
  });
}

void tsmm_of(const Context& ctx, Scalar alpha, const In& x_, const In& s_, Scalar beta, const Out& y_) {
  const Operand x = operand_of(x_, "x"), s = operand_of(s_, "s"), y = operand_of(y_, "out");
  run(ctx, x, [&]<class T, Space S>(const Context& at) {
    using R = result_t<T>;
    detail::tsmm<T>(at, Op::none, scalar<R>(alpha), x.as<const T, S>("x", at), s.as<const R, S>("s", at),
                    scalar<R>(beta), y.as<R, S>("out", at));
  });
}

void tsm2r_of(const Context& ctx, Scalar alpha, const In& d_, const In& x_, Scalar beta, const Out& y_) {
  const Operand d = operand_of(d_, "d"), x = operand_of(x_, "x"), y = operand_of(y_, "out");
  run(ctx, d, [&]<class T, Space S>(const Context& at) {
    using R = result_t<T>;
    detail::tsm2r<T>(at, Op::none, scalar<R>(alpha), d.as<const T, S>("d", at), x.as<const T, S>("x", at),
                     scalar<R>(beta), y.as<R, S>("out", at));
  });
}

/// @throws Error(invalid_argument) for a type that is no result's.
template <class T>
constexpr bool is_result = std::is_same_v<T, result_t<T>>;
[[noreturn]] void refuse_half() {
  throw Error(Errc::invalid_argument, "x is of 16-bit numbers, which cannot be overwritten: convert it by astype()");
}

void trsm_of(const Context& ctx, const Out& x_, const In& r_) {
  const Operand x = operand_of(x_, "x"), r = operand_of(r_, "r");
  run(ctx, x, [&]<class T, Space S>(const Context& at) {
    if constexpr (is_result<T>)
      detail::trsm<T>(at, x.as<T, S>("x", at), r.as<const T, S>("r", at));
    else
      refuse_half();
  });
}

void norms_of(const Context& ctx, const In& x_, const Out& norms_) {
  const Operand x = operand_of(x_, "x"), norms = operand_of(norms_, "out");
  run(ctx, x, [&]<class T, Space S>(const Context& at) {
    const auto to = norms.as<real_t<T>, S>("out", at);
    if constexpr (S == Space::host)
      detail::column_norms<T>(at, x.as<const T, S>("x", at),
                              std::span<real_t<T>>(to.data, static_cast<std::size_t>(to.cols)));
    else
      detail::column_norms<T>(at, x.as<const T, S>("x", at), to);
  });
}

nb::object orthonormalise_of(const Context& ctx, const Out& x_, const Out& r_) {
  const Operand x = operand_of(x_, "x"), r = operand_of(r_, "r");
  ortho::Factored found;
  if (x.col_stride != 1 && x.cols > 1)
    throw Error(Errc::invalid_argument, "x must have contiguous rows: numpy.ascontiguousarray() makes them so");
  run(ctx, x, [&]<class T, Space S>(const Context& at) {
    if constexpr (is_result<T>) {
      const auto to = r.as<T, Space::host>("r");
      found = ortho::orthonormalise<T>(
          at, ortho::Ladder{},
          PlacedView<T>(MatrixView<T, S>(static_cast<T*>(x.data), x.rows, x.cols, std::max(x.row_stride, x.cols))),
          HostView<T>(to.data, to.rows, to.cols));
    } else {
      refuse_half();
    }
  });
  return nb::int_(found.rank);
}

template <class I>
void spmm_with(const Context& ctx, Scalar alpha, index_t cols, const In& pointers_, const In& indices_,
               const In& values_, const In& x_, Scalar beta, const Out& y_) {
  const auto [pointers, count] = list_of<index_t>(pointers_, "indptr");
  const auto [indices, stored] = list_of<I>(indices_, "indices");
  const Operand x = operand_of(x_, "x"), y = operand_of(y_, "out");
  if (x.space != Space::host) throw Error(Errc::invalid_argument, "spmm takes arrays in host memory: move x there");
  const index_t* const begins = pointers;
  const I* const columns = indices;
  const index_t rows = count - 1, entries = stored;
  expects(rows >= 0 && begins[0] == 0 && begins[rows] <= entries, "indptr does not fit to indices");
  with_type(x.type, [&]<class T>() {
    using R = result_t<T>;
    if constexpr (is_result<T>) {
      const T* const values = list_of<T>(values_, "data").first;
      const nb::gil_scoped_release released;
      for (index_t e = 0; e < entries; ++e)
        expects(columns[e] >= 0 && columns[e] < cols, "a column number of the sparse matrix is outside of it");
      detail::spmm<T, I>(ctx, Op::none, scalar<R>(alpha),
                         CsrView<T, Space::host, I>{rows, cols, begins, columns, values},
                         x.as<const T, Space::host>("x"), scalar<R>(beta), y.as<R, Space::host>("out"));
    } else {
      refuse_half();
    }
  });
}

template <class T>
const T* list_on_device(const In& a, const char* name, int device) {
  if (a.ndim() != 1 || a.dtype() != nb::dtype<T>() || a.device_type() != nb::device::cuda::value ||
      a.device_id() != device || (a.shape(0) > 1 && a.stride(0) != 1))
    throw Error(Errc::invalid_argument,
                std::string(name) + " must be a contiguous list on device " + std::to_string(device) + ", as x is");
  return static_cast<const T*>(a.data());
}

/// Product with a sparse matrix on a device. The caller has checked pointers and column numbers.
void spmm_on_device(const Context& ctx, Scalar alpha, index_t cols, const In& pointers_, const In& indices_,
                    const In& values_, const In& x_, Scalar beta, const Out& y_) {
  const Operand x = operand_of(x_, "x"), y = operand_of(y_, "out");
  if (x.space != Space::device) throw Error(Errc::invalid_argument, "a lies on a GPU, x does not: move one of them");
  run(ctx, x, [&]<class T, Space S>(const Context& at) {
    using R = result_t<T>;
    if constexpr (is_result<T> && S == Space::device) {
      CsrView<T, S> a{
          static_cast<index_t>(pointers_.shape(0)) - 1, cols, list_on_device<index_t>(pointers_, "indptr", x.device),
          list_on_device<std::int32_t>(indices_, "indices", x.device), list_on_device<T>(values_, "data", x.device)};
      a.stored = static_cast<index_t>(values_.shape(0));
      detail::spmm<T, std::int32_t>(at, Op::none, scalar<R>(alpha), a, R{}, x.as<const T, S>("x", at), scalar<R>(beta),
                                    y.as<R, S>("out", at));
    } else {
      refuse_half();
    }
  });
}

std::string plan_of(const Context& ctx, const std::string& operation, const std::string& type, index_t n, index_t p,
                    index_t q, index_t nonzeros) {
  Problem problem;
  const auto op = operation_named(operation);
  const auto dtype = dtype_named(type);
  expects(op.has_value(), "operation is none of tsmttsm, gram, tsmm, tsm2r, spmm, trsm, column_norms");
  if (!dtype) throw Error(Errc::invalid_argument, "dtype is none of " + dtype_names());
  problem.operation = *op, problem.type = *dtype;
  problem.n = n, problem.p = p, problem.q = q, problem.nonzeros = nonzeros;
  return explain(make_plan(problem, this_cpu(), {ctx.simd, ctx.thread_count()}), this_cpu());
}

}  // namespace

void add_engine(nb::module_& m) {
  m.def("gram", gram_of), m.def("inner", inner_of), m.def("tsmm", tsmm_of), m.def("tsm2r", tsm2r_of);
  m.def("trsm", trsm_of), m.def("column_norms", norms_of), m.def("orthonormalise", orthonormalise_of);
  m.def("spmm32", spmm_with<std::int32_t>), m.def("spmm64", spmm_with<std::int64_t>);
  m.def("spmm_on_device", spmm_on_device), m.def("plan", plan_of);
}

}  // namespace ts::python
