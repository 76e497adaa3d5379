#include "tallskinny/solvers/kmeans/seeding/potential.hpp"

#include <algorithm>
#include <bit>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/seeding/choose.hpp"
#include "tallskinny/solvers/kmeans/seeding/launch.hpp"

namespace ts::inline v0 {

namespace {

using assign_detail::chunk_count;
using assign_detail::team_size;

double weight_of(PerRow<const double> weights, index_t i) noexcept { return weights.empty() ? 1.0 : weights.data[i]; }

/// Labels some rows with the nearest candidate. Where scores leave many rows undecided, as those of float32 do with a
/// few rows far from all others, they do so all along: the first rows tell which `scores` the others should have.
void label_rows(const Context& ctx, const PotentialArguments& of, const Rows& x, Scores& scores,
                std::vector<std::int32_t>& labels) {
  const PerRow<std::int32_t> all(labels);
  for (index_t first = 0; first < x.rows();) {
    const bool decided = first > 0 || scores == Scores::float64;
    const index_t count = decided ? x.rows() - first : std::min(x.rows(), 4 * chunk_rows);
    const Rows rows = x.block(first, count);
    const index_t rescored = assign(ctx, {rows, of.moments, of.candidates, scores, all.part(first, count)}).rescored;
    if (!decided && rescored > count / 4) scores = scores == Scores::int8 ? Scores::float32 : Scores::float64;
    first += count;
  }
}

}  // namespace

void lower_potential(const Context& ctx, const PotentialArguments& of) {
  const index_t d = of.x.cols(), n = of.x.rows();
  expects(of.candidates.cols() == d || !of.rows.empty(), "the candidates have another number of columns than the rows");
  assign_detail::expect_per_row(of.x, of.squared, "squared distances");
  if (!of.weights.empty()) assign_detail::expect_per_row(of.x, of.weights, "weights");
  if (!of.nearest.empty()) assign_detail::expect_per_row(of.x, of.nearest, "nearest");
  expects(std::ssize(of.totals) == chunk_count(n), "there must be one total for each chunk of rows");
  if (of.x.on_device()) return assign_device::lower_potential(ctx, of);
  if (!of.rows.empty()) {
    Matrix<double> candidates(std::ssize(of.rows), d);
    gather_rows(ctx, of.x, of.rows, candidates.view());
    PotentialArguments gathered{of.x, of.moments, candidates.cview(), of.squared, of.weights, of.totals};
    gathered.nearest = of.nearest, gathered.first_number = of.first_number;
    return lower_potential(ctx, gathered);
  }
  constexpr index_t block = 64 * chunk_rows;
  Scores scores = Scores::int8;
  for (index_t first = 0; first < n; first += block) {
    const Rows x = of.x.block(first, std::min(block, n - first));
    std::vector<std::int32_t> labels(at(x.rows()), of.candidates.rows() == 1 ? 0 : -1);
    std::vector<double> found(labels.size());
    if (of.candidates.rows() > 1) label_rows(ctx, of, x, scores, labels);
    own_squared_distances(ctx, x, of.candidates, labels, found);
    parallel_for(team_size(ctx, x.rows(), 8), chunk_count(x.rows()), [&](index_t c) {
      double total = 0;
      for (index_t r = c * chunk_rows; r < std::min(x.rows(), (c + 1) * chunk_rows); ++r) {
        const auto place = at(r);
        double& least = of.squared.data[first + r];
        if (found[place] < least) {
          least = found[place];
          if (!of.nearest.empty()) of.nearest.data[first + r] = of.first_number + labels[place];
        }
        total += weight_of(of.weights, first + r) * least;
      }
      of.totals[at(first / chunk_rows + c)] = total;
    });
  }
}

std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row) {
  if (squared.space == Space::device) return assign_device::keep_rows(ctx, squared, weights, factor, random, first_row);
  constexpr double products = 16;  // about as long as one row takes
  std::vector<std::vector<index_t>> parts(at(chunk_count(squared.size)));
  parallel_for(team_size(ctx, squared.size, products), std::ssize(parts), [&](index_t c) {
    for (index_t i = c * chunk_rows; i < std::min(squared.size, (c + 1) * chunk_rows); ++i) {
      const double one = squared.data == nullptr ? 1.0 : squared.data[i];
      const double probability = factor * (weight_of(weights, i) * one);
      if (probability > 0 && random.uniform(static_cast<std::uint64_t>(first_row + i)) < probability)
        parts[at(c)].push_back(i);
    }
  });
  std::vector<index_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

SeedRows choose_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<double> squared,
                     PerRow<const double> weights, const Choosing& how) {
  expects(!x.sparse() && x.rows() <= INT32_MAX && how.trials <= most_trials,
          "choose_rows() takes dense rows, less than 2^31, and few trials");
  assign_detail::expect_per_row(x, squared, "squared distances");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  if (x.on_device()) return assign_device::choose_rows(ctx, x, moments, squared, weights, how);
  assign_detail::HostChoices choices(ctx, x, moments, squared.span(), weights.span());
  return assign_detail::choose_rows(choices, how);
}

index_t with_copies(index_t candidates) {
  if (candidates <= 8) return candidates;
  // Four numbers between a power of two and the next.
  const auto step = static_cast<index_t>(std::bit_floor(static_cast<std::uint64_t>(candidates)) / 4);
  return (candidates + step - 1) / step * step;
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  expects(out.rows() == std::ssize(numbers) && out.cols() == x.cols(), "gathered rows need room for each of them");
  expects(std::all_of(numbers.begin(), numbers.end(), [&](index_t i) { return i >= 0 && i < x.rows(); }),
          "a row to gather is outside of the matrix");
  if (x.on_device()) return assign_device::gather_rows(ctx, x, numbers, out);
  parallel_for(team_size(ctx, out.rows(), static_cast<double>(x.cols())), out.rows(),
               [&](index_t q) { x.load(numbers[at(q)], out.data() + q * out.ld()); });
}

template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == x.space(),
          "gathered rows need room for each of them, in the same memory");
  if (x.on_device()) return assign_device::gather_rows(ctx, x, numbers, out.data);
  const bool as_is = !x.sparse() && x.type() == dtype_of<S> && x.col_stride() == 1 && !x.has_scale();
  parallel_ranges(team_size(ctx, std::ssize(numbers), static_cast<double>(x.cols())), std::ssize(numbers),
                  [&](index_t begin, index_t end) {
                    std::vector<double> row(at(x.cols()));
                    for (index_t q = begin; q < end; ++q) {
                      const index_t i = numbers[at(q)];
                      S* const to = out.data + q * x.cols();
                      if (as_is) {
                        std::copy_n(static_cast<const S*>(x.values()) + i * x.row_stride(), x.cols(), to);
                        continue;
                      }
                      x.load(i, row.data());
                      std::copy(row.begin(), row.end(), to);
                    }
                  });
}
template void gather_rows<float>(const Context&, const Rows&, std::span<const index_t>, PerRow<float>);
template void gather_rows<double>(const Context&, const Rows&, std::span<const index_t>, PerRow<double>);

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 std::span<const double> shift, double scale) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == Space::device && x.on_device(),
          "gathered rows need room for each of them, in the same memory");
  assign_device::gather_rows(ctx, x, numbers, out.data, shift, scale);
}

}  // namespace ts::inline v0
