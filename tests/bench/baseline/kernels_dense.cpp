#include <array>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/gemm/trsm/trsm.hpp"
#include "tallskinny/gemm/tsm2r/tsm2r.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/bench/baseline/kernels.hpp"

namespace ts::baseline {

namespace {

/// An n x p and an n x q operand, with so many elements between their lines.
struct Shape {
  index_t n, p, q, gap = 0;
  Layout layout = Layout::row_major;
  Determinism determinism = Determinism::run_to_run;

  [[nodiscard]] std::string text() const {
    std::string words = "n" + std::to_string(n) + " p" + std::to_string(p) + " q" + std::to_string(q);
    if (gap > 0) words += " gap" + std::to_string(gap);
    if (layout == Layout::col_major) words += " columns";
    if (determinism == Determinism::gpu_to_gpu) words += " gpu-to-gpu";
    return words;
  }
};

constexpr index_t many = 1 << 22, few = 1 << 15;
constexpr std::array shapes = {Shape{many, 8, 8},
                               Shape{many, 64, 64},
                               Shape{many, 17, 17, 3},
                               Shape{many, 32, 32, 0, Layout::col_major},
                               Shape{few, 48, 48},
                               Shape{many, 3, 33},
                               Shape{few, 16, 16, 0, Layout::row_major, Determinism::gpu_to_gpu},
                               Shape{many, 1, 1}};

template <class T, Layout L>
struct Tall {
  Tall(const Context& ctx, index_t n, index_t p, index_t gap)
      : whole(ctx.stream, n + (L == Layout::col_major ? gap : 0), p + (L == Layout::row_major ? gap : 0)),
        rows(n),
        cols(p) {}
  [[nodiscard]] DeviceView<T, L> view() { return whole.view().block(0, 0, rows, cols); }
  DeviceMatrix<T, L> whole;
  index_t rows, cols;
};

constexpr int dense_count = 10;
constexpr const char* dense_names[dense_count] = {"tsmttsm", "gram",       "tsmm",        "tsmm beta",     "tsm2r",
                                                  "norms",   "inner_gram", "project_out", "tsmm_in_place", "trsm"};

/// Operation number `op` of dense_names; those from number 6 on know result types only.
template <class T, Layout L>
void start(const Context& ctx, int op, const Shape& s) {
  using R = result_t<T>;
  const R one{1}, none{};
  Tall<T, L> x(ctx, s.n, s.p, s.gap), w(ctx, s.n, s.q, s.gap);
  DeviceMatrix<R> c(ctx.stream, s.p, s.q), square(ctx.stream, s.p, s.p), gram_of(ctx.stream, s.q, s.q);
  Tall<R, L> y(ctx, s.n, s.q, s.gap);
  if (op == 0) return tsmttsm(ctx, Op::adjoint, one, x.view(), w.view(), none, c.view());
  if (op == 1) return gram(ctx, Op::adjoint, one, x.view(), none, square.view());
  if (op == 2) return tsmm(ctx, Op::none, one, x.view(), c.view(), none, y.view());
  if (op == 3) return tsmm(ctx, Op::adjoint, one, w.view(), c.view(), one, Tall<R, L>(ctx, s.n, s.p, s.gap).view());
  if (op == 4) {
    Tall<T, L> d(ctx, s.n / 128, 20000, s.gap), thin(ctx, 20000, s.q, s.gap);
    return tsm2r(ctx, Op::none, one, d.view(), thin.view(), none, Tall<R, L>(ctx, s.n / 128, s.q, s.gap).view());
  }
  DeviceMatrix<real_t<T>> norms(ctx.stream, 1, s.p);
  if (op == 5) return column_norms(ctx, x.view(), norms.view());
  if constexpr (std::is_same_v<T, R>) {
    if (op == 6) return inner_and_gram(ctx, x.view(), w.view(), c.view(), gram_of.view());
    DeviceMatrix<R> next(ctx.stream, s.p, s.q);
    if (op == 7) return project_out(ctx, x.view(), c.view(), w.view(), next.view(), gram_of.view());
    if (op == 8) return tsmm_in_place(ctx, Op::none, one, x.view(), square.view());
    trsm(ctx, x.view(), square.view());
  }
}

template <class T>
void add_dense(KernelCases& cases, int turn) {
  constexpr bool result_type = std::is_same_v<T, result_t<T>>;
  const auto add = [&](int op, const Shape& s) {
    const std::string name = std::string(dense_names[op]) + " " + std::string(name_of(dtype_of<T>)) + " " + s.text();
    cases.rehearse(
        name,
        [&](const Context& ctx) {
          if (s.layout == Layout::row_major)
            start<T, Layout::row_major>(ctx, op, s);
          else
            start<T, Layout::col_major>(ctx, op, s);
        },
        s.determinism);
  };
  const auto number = [](int i) { return shapes[static_cast<std::size_t>(i) % shapes.size()]; };
  for (int op = 0; op < (result_type ? dense_count : 6); ++op) {
    add(op, number(op + turn));
    if (std::is_same_v<T, double> || std::is_same_v<T, float16> || std::is_same_v<T, std::complex<float>>)
      add(op, number(op + turn + 4));
  }
  for (const int op : {0, 1, 2, 3}) {
    add(op, number(op == 1 ? 1 : turn % 2));  // where most kernels are: operands as they usually lie
    if (op == 0 && sizeof(T) == 2) add(op, {many, 512, 64});
    if (op % 3 == 0 && turn % 2 == 0) add(op, {many, 512, 16});
    if (op == 2 && turn % 2 == 1) add(op, {many, 512, 32});
  }
}

/// Five entries a row, and one row that is summed in parts.
template <class T>
CsrMatrix<T> sparse(index_t n) {
  CsrMatrix<T> a;
  a.rows = a.cols = n;
  for (index_t i = 0; i < n; ++i) {
    for (index_t e = 0; e < (i == n / 2 ? 5000 : 5); ++e)
      a.indices.push_back(static_cast<std::int32_t>((i * 7 + e * 11) % n));
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  a.values.resize(a.indices.size());
  return a;
}

template <class T>
void add_others(KernelCases& cases, int turn) {
  using R = result_t<T>;
  const std::string type(name_of(dtype_of<T>));
  const CsrMatrix<T> a = sparse<T>(20000);
  for (const index_t q : {index_t{1} << turn % 4, index_t{16}})
    cases.rehearse("spmm " + type + " q" + std::to_string(q), [&](const Context& ctx) {
      DeviceCsrMatrix<T> there(ctx.stream, a.view());
      DeviceMatrix<T> x(ctx.stream, a.cols, q);
      DeviceMatrix<R> y(ctx.stream, a.rows, q);
      spmm(ctx, Op::none, R{1}, there.view(), x.view(), R{}, y.view());
      if (q == 16) spmm_shifted(ctx, R{1}, there.view(), R{2}, x.view(), R{1}, y.view());
    });
  cases.rehearse("convert " + type, [](const Context& ctx) {
    DeviceMatrix<T> rows(ctx.stream, 100000, 20);
    DeviceMatrix<T, Layout::col_major> columns(ctx.stream, 100000, 20);
    convert(ctx, rows.cview(), columns.view());
    convert(ctx, columns.cview(), rows.view());
  });
  if constexpr (std::is_same_v<T, R>) {
    cases.rehearse("fill_random " + type, [](const Context& ctx) {
      DeviceMatrix<T> x(ctx.stream, 100000, 9);
      fill_random<T>(ctx, Philox{1, 2}, x.view());
    });
    cases.rehearse("scale " + type, [](const Context& ctx) {  // a product of nothing with nothing
      DeviceMatrix<T> x(ctx.stream, 100000, 0), s(ctx.stream, 0, 5), y(ctx.stream, 100000, 5);
      tsmm(ctx, Op::none, T{1}, x.view(), s.view(), T{2}, y.view());
    });
  }
}

template <class To, class From>
void add_cast(KernelCases& cases, const std::string& name) {
  cases.rehearse("cast " + name, [](const Context& ctx) {
    DeviceMatrix<From> x(ctx.stream, 100000, 12);
    (void)cast<To, From>(ctx, PlacedView<const From>(x.cview().cols(1, 7)));
  });
}

}  // namespace

void add_dense_cases(KernelCases& cases) {
  int turn = 0;
#define TS_CASE(T) add_dense<T>(cases, turn), add_others<T>(cases, turn++);
  TS_FOR_EACH_TYPE(TS_CASE)
#undef TS_CASE
  add_cast<float, double>(cases, "float64 to float32");
  add_cast<double, float>(cases, "float32 to float64");
}

}  // namespace ts::baseline
