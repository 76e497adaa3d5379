#include <algorithm>

#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/clusters/clusters.hpp"
#include "tallskinny/gemm/assign/rows/unit_rows.hpp"
#include "tallskinny/gemm/assign/seeding/potential.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/tests/bench/baseline/kernels.hpp"

namespace ts::baseline {

namespace {

struct Shape {
  index_t d, k, gap = 0;
  [[nodiscard]] std::string text() const {
    return " d" + std::to_string(d) + " k" + std::to_string(k) + (gap > 0 ? " gap" + std::to_string(gap) : "");
  }
};

constexpr index_t n = 1 << 20;

/// What a rehearsal need not compute: moments of columns that reach from -1 to 1.
ColumnMoments moments_of(index_t d) {
  const auto all = [d](double x) { return std::vector<double>(static_cast<std::size_t>(d), x); };
  return {all(0), all(0.5), all(0), all(1)};
}

Matrix<double> centres(index_t k, index_t d) {
  Matrix<double> c(k, d);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < d; ++j) c(m, j) = static_cast<double>((m * 7 + j * 3) % 97) / 97;
  return c;
}

/// Rows, labels and weights in memory that is not there.
template <class T>
struct There {
  There(const Context& ctx, const Shape& s)
      : x(ctx.stream, n, s.d + s.gap),
        rows(ctx.stream, x.cview().cols(0, s.d)),
        labels(ctx.stream, n, 1),
        weights(ctx.stream, n, 1) {}
  DeviceMatrix<T> x;
  Rows rows;
  DeviceMatrix<std::int32_t> labels;
  DeviceMatrix<double> weights;
  [[nodiscard]] PerRow<std::int32_t> label() const { return {labels.data(), n, Space::device}; }
  [[nodiscard]] PerRow<const double> weight() const { return {weights.data(), n, Space::device}; }
};

/// Passes of a run: the first, a later one whose labels are settled, one without proof, and a step.
template <class T>
void add_passes(KernelCases& cases, const Shape& s, bool weighted, bool others = true) {
  const ColumnMoments moments = moments_of(s.d);
  const FixedPoint unit(moments.reach, 1, n);
  const auto rehearse = [&](const std::string& what, auto&& work) {
    cases.rehearse("assign " + what + " " + std::string(name_of(dtype_of<T>)) + s.text(), [&](const Context& ctx) {
      const There<T> there(ctx, s);
      Clusters clusters(ctx, Space::device, moments, unit, centres(s.k, s.d));
      work(there, clusters, weighted ? there.weight() : PerRow<const double>{});
    });
  };
  rehearse("pass", [](const There<T>& t, Clusters& c, PerRow<const double> w) {
    (void)c.assign(t.rows, Scores::float32, t.label(), w, Clusters::Sums::move);
    (void)c.move_to_means();
  });
  if (!others) return;
  rehearse("settled", [](const There<T>& t, Clusters& c, PerRow<const double> w) {
    (void)c.assign(t.rows, Scores::float32, t.label(), w, Clusters::Sums::move, {}, true);
  });
  rehearse("fast", [](const There<T>& t, Clusters& c, PerRow<const double> w) {
    (void)c.assign(t.rows, Scores::fast, t.label(), w, Clusters::Sums::stay);
    c.add_rows(t.rows, t.label(), w);
  });
}

/// What is asked once for each run.
template <class T>
void add_rest(KernelCases& cases, const Shape& s) {
  const std::string type = " " + std::string(name_of(dtype_of<T>)) + s.text();
  const Matrix<double> c = centres(s.k, s.d);
  cases.rehearse("distances" + type, [&](const Context& ctx) {
    const There<T> t(ctx, s);
    std::vector<double> out(static_cast<std::size_t>(n));
    own_squared_distances(ctx, t.rows, c.cview(), t.label(), out);
    (void)inertia(ctx, t.rows, c.cview(), t.label(), t.weight());
    (void)count_misassigned(ctx, t.rows, c.cview(), t.label());
  });
  cases.rehearse("unit rows" + type, [&](const Context& ctx) {
    const There<T> t(ctx, s);
    DeviceMatrix<double> unit(ctx.stream, n, s.d);
    DeviceMatrix<index_t> listed(ctx.stream, 10, 1);
    std::vector<double> scale(static_cast<std::size_t>(n));
    (void)unit_rows(ctx, t.rows, PerRow<double>(unit.data(), n * s.d, Space::device), scale);
    (void)reset_labels(ctx, t.label(), PerRow<const index_t>(listed.data(), 10, Space::device));
  });
}

template <class T>
void add_seeding(KernelCases& cases, const Shape& s) {
  const std::string type = " " + std::string(name_of(dtype_of<T>)) + s.text();
  const ColumnMoments moments = moments_of(s.d);
  const Matrix<double> c = centres(s.k, s.d);
  const auto rehearse = [&](const std::string& what, auto&& work) {
    cases.rehearse("seeding " + what + type, [&](const Context& ctx) {
      const There<T> t(ctx, s);
      const DeviceMatrix<double> squared(ctx.stream, n, 1);
      work(ctx, t, PerRow<double>(squared.data(), n, Space::device));
    });
  };
  std::vector<double> totals(static_cast<std::size_t>((n + chunk_rows - 1) / chunk_rows));
  rehearse("lower", [&](const Context& ctx, const There<T>& t, PerRow<double> squared) {
    lower_potential(ctx, {t.rows, moments, c.cview(), squared, t.weight(), totals});
    lower_potential(ctx, {t.rows, moments, c.cview().rows(0, 1), squared, {}, totals, t.label(), 3});
  });
  rehearse("keep", [&](const Context& ctx, const There<T>& t, PerRow<double> squared) {
    (void)keep_rows(ctx, squared, t.weight(), 0.5, Philox{1, 2});
  });
  rehearse("choose", [&](const Context& ctx, const There<T>& t, PerRow<double> squared) {
    (void)choose_rows(ctx, t.rows.block(0, 16384), moments, squared.part(0, 16384), {}, {5, 10, 0, Philox{1, 2}, 0});
  });
  rehearse("gather", [&](const Context& ctx, const There<T>& t, PerRow<double>) {
    const std::vector<index_t> numbers = {5, 3, 9};
    const DeviceMatrix<float> out(ctx.stream, 3, s.d);
    gather_rows<float>(ctx, t.rows, numbers, PerRow<float>(out.data(), 3 * s.d, Space::device));
  });
}

}  // namespace

void add_assign_cases(KernelCases& cases) {
  add_passes<float>(cases, {1, 1}, false, false);
  add_passes<float>(cases, {4, 16}, true, false);
  add_passes<float>(cases, {16, 64, 3}, false);
  add_passes<float>(cases, {32, 256}, false, false);
  add_passes<float>(cases, {100, 30}, true);
  add_passes<float>(cases, {128, 1000}, false);
  add_passes<float>(cases, {784, 500}, false, false);
  add_passes<double>(cases, {8, 16}, false, false);
  add_passes<double>(cases, {64, 1024}, true);
  add_passes<float16>(cases, {32, 32}, false);
  add_passes<float16>(cases, {128, 3000}, false);
  add_passes<bfloat16>(cases, {300, 40}, false, false);
  add_rest<double>(cases, {7, 5});
  add_rest<float>(cases, {16, 20});
  add_rest<float16>(cases, {9, 4});
  add_rest<bfloat16>(cases, {32, 7});
  add_seeding<float>(cases, {16, 12});
  add_seeding<double>(cases, {5, 9});
  add_seeding<float16>(cases, {40, 4});
}

}  // namespace ts::baseline
