#include "tallskinny/gemm/assign/seeding/potential.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "tallskinny/gemm/assign/cpu/kernels.hpp"
#include "tallskinny/gemm/assign/exact/squared_distance.hpp"
#include "tallskinny/gemm/assign/rows/chunks.hpp"
#include "tallskinny/gemm/assign/seeding/choose.hpp"
#include "tallskinny/gemm/assign/seeding/launch.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

using assign_detail::chunk_count;
using assign_detail::team_size;

double weight_of(PerRow<const double> weights, index_t i) noexcept { return weights.empty() ? 1.0 : weights.data[i]; }

/// Squared distances of rows in host memory to candidates; exactly 0 for a row equal to one.
class CandidateDistances {
 public:
  CandidateDistances(const Context& ctx, const PotentialArguments& of)
      : kernels_(assign_cpu::select(ctx.simd)),
        x_(of.x),
        scale_(of.unit.scale),
        zeros_(static_cast<std::size_t>(of.x.cols() + most_lanes)),
        scaled_(Matrix<double>::copy_of(of.candidates)) {
    for (index_t q = 0; q < scaled_.rows(); ++q) {
      for (index_t j = 0; j < x_.cols(); ++j) scaled_(q, j) *= scale_;
      if (x_.sparse()) norms_.push_back(assign_detail::squared_norm<double>(&scaled_(q, 0), x_.cols()));
    }
  }

  /// to(candidate) gives the distance of row i; `room` is a thread's own.
  template <class Use>
  void of_row(index_t i, std::vector<double>& room, const Use& use) const {
    const index_t d = x_.cols(), entries = x_.entries(i);
    room.resize(static_cast<std::size_t>(std::max(entries, index_t{1})));
    if (x_.sparse())
      x_.load_entries(i, room.data());
    else
      kernels_.centred(x_, i, zeros_.data(), room.data());
    for (double& value : room) value *= scale_;
    use([&](index_t q) {
      const double* const c = scaled_.data() + q * d;
      if (!x_.sparse()) return kernels_.squared_distance(room.data(), c, d);
      return assign_detail::sparse_squared_distance(room.data(), x_.indices() + x_.pointers()[i], entries, c,
                                                    norms_[static_cast<std::size_t>(q)]);
    });
  }

 private:
  static constexpr index_t most_lanes = 16;

  const assign_cpu::AssignKernels& kernels_;
  const Rows& x_;
  double scale_;
  std::vector<double> zeros_;  ///< a shift; distances need none
  Matrix<double> scaled_;
  std::vector<double> norms_;  ///< of these, for sparse rows
};

/// The nearest candidate of each row. Where scores leave many rows undecided, as those of float32 do with a few rows
/// far from all others, they do so all along: the first rows tell.
std::vector<std::int32_t> nearest_of(const Context& ctx, const PotentialArguments& of) {
  const index_t n = of.x.rows();
  std::vector<std::int32_t> labels(static_cast<std::size_t>(n), -1);
  const PerRow<std::int32_t> all(labels);
  index_t first = 0;
  for (const Scores scores : {Scores::int8, Scores::float32, Scores::float64}) {
    const auto assign_next = [&](index_t count) {
      const index_t from = std::exchange(first, first + count);
      const Rows rows = of.x.block(from, count);
      return assign(ctx, {rows, of.unit.moments, of.candidates, scores, all.part(from, count)}).rescored;
    };
    const index_t tried = std::min(n - first, 4 * chunk_rows);
    if (first < n && (scores == Scores::float64 || assign_next(tried) <= tried / 4)) assign_next(n - first);
  }
  return labels;
}

}  // namespace

void lower_potential(const Context& ctx, const PotentialArguments& of) {
  const index_t d = of.x.cols();
  expects(of.candidates.cols() == d || !of.rows.empty(), "the candidates have another number of columns than the rows");
  assign_detail::expect_per_row(of.x, of.squared, "squared distances");
  if (!of.weights.empty()) assign_detail::expect_per_row(of.x, of.weights, "weights");
  if (!of.nearest.empty()) assign_detail::expect_per_row(of.x, of.nearest, "nearest");
  expects(std::ssize(of.totals) == chunk_count(of.x.rows()), "there must be one total for each chunk of rows");
  if (of.x.on_device()) return assign_device::lower_potential(ctx, of);
  if (!of.rows.empty()) {
    Matrix<double> candidates(std::ssize(of.rows), d);
    gather_rows(ctx, of.x, of.rows, candidates.view());
    PotentialArguments gathered{of.x, of.unit, candidates.cview(), of.squared, of.weights, of.totals};
    gathered.nearest = of.nearest, gathered.first_number = of.first_number;
    return lower_potential(ctx, gathered);
  }
  // Beyond this, finding the nearest candidate by scores first costs less than all distances.
  constexpr index_t most_by_distance = 8;
  const index_t count = of.candidates.rows(), chunks = chunk_count(of.x.rows());
  const bool scored = count > most_by_distance;
  const std::vector<std::int32_t> labels = scored ? nearest_of(ctx, of) : std::vector<std::int32_t>();
  const CandidateDistances distances(ctx, of);
  const double products = static_cast<double>(chunk_rows * d * (scored ? 1 : count));
  parallel_ranges(team_size(ctx, chunks, products), chunks, [&](index_t begin, index_t end) {
    std::vector<double> room;
    for (index_t c = begin; c < end; ++c) {
      double total = 0;
      for (index_t i = c * chunk_rows; i < std::min(of.x.rows(), (c + 1) * chunk_rows); ++i) {
        double& least = of.squared.data[i];
        distances.of_row(i, room, [&](const auto& to) {
          const index_t first = scored ? labels[static_cast<std::size_t>(i)] : 0, last = scored ? first + 1 : count;
          for (index_t q = first; q < last; ++q) {
            const double found = to(q);
            if (!(found < least)) continue;
            least = found;
            if (!of.nearest.empty()) of.nearest.data[i] = of.first_number + static_cast<std::int32_t>(q);
          }
        });
        total += weight_of(of.weights, i) * least;
      }
      of.totals[static_cast<std::size_t>(c)] = total;
    }
  });
}

std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row) {
  if (squared.space == Space::device) return assign_device::keep_rows(ctx, squared, weights, factor, random, first_row);
  constexpr double products = 16;  // about as long as one row takes
  std::vector<std::vector<index_t>> parts(static_cast<std::size_t>(chunk_count(squared.size)));
  parallel_for(team_size(ctx, squared.size, products), std::ssize(parts), [&](index_t c) {
    for (index_t i = c * chunk_rows; i < std::min(squared.size, (c + 1) * chunk_rows); ++i) {
      const double one = squared.data == nullptr ? 1.0 : squared.data[i];
      const double probability = factor * (weight_of(weights, i) * one);
      if (probability > 0 && random.uniform(static_cast<std::uint64_t>(first_row + i)) < probability)
        parts[static_cast<std::size_t>(c)].push_back(i);
    }
  });
  std::vector<index_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<double> squared,
                       PerRow<const double> weights, const Choosing& how) {
  expects(!x.sparse() && x.rows() <= INT32_MAX && how.trials <= most_trials,
          "choose_rows() takes dense rows, less than 2^31, and few trials");
  assign_detail::expect_per_row(x, squared, "squared distances");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  if (x.on_device()) return assign_device::choose_rows(ctx, x, unit, squared, weights, how);
  assign_detail::HostChoices choices(ctx, x, unit, squared.span(), weights.span());
  return assign_detail::choose_rows(choices, how);
}

std::vector<std::uint64_t> count_numbers(const Context& ctx, PerRow<const std::int32_t> numbers, index_t count) {
  if (numbers.space == Space::device) return assign_device::count_numbers(ctx, numbers, count);
  std::vector<std::uint64_t> found(static_cast<std::size_t>(count));
  for (const std::int32_t number : numbers.span()) ++found[static_cast<std::size_t>(number)];
  return found;
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
               [&](index_t q) { x.load(numbers[static_cast<std::size_t>(q)], out.data() + q * out.ld()); });
}

template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == x.space(),
          "gathered rows need room for each of them, in the same memory");
  if (x.on_device()) return assign_device::gather_rows(ctx, x, numbers, nullptr, out.data);
  const bool as_is = !x.sparse() && x.type() == dtype_of<S> && x.col_stride() == 1 && !x.has_scale();
  parallel_ranges(team_size(ctx, std::ssize(numbers), static_cast<double>(x.cols())), std::ssize(numbers),
                  [&](index_t begin, index_t end) {
                    std::vector<double> row(static_cast<std::size_t>(x.cols()));
                    for (index_t q = begin; q < end; ++q) {
                      const index_t i = numbers[static_cast<std::size_t>(q)];
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
                 const SeedingUnit& unit) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == Space::device && x.on_device(),
          "gathered rows need room for each of them, in the same memory");
  assign_device::gather_rows(ctx, x, numbers, &unit, out.data);
}

}  // namespace ts::inline v0
