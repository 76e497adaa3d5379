#include "tallskinny/gemm/assign/seeding/potential.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "tallskinny/gemm/assign/rows/chunks.hpp"
#include "tallskinny/gemm/assign/scores/centroids.hpp"
#include "tallskinny/gemm/assign/seeding/candidate_distances.hpp"
#include "tallskinny/gemm/assign/seeding/choose.hpp"
#include "tallskinny/gemm/assign/seeding/launch.hpp"
#include "tallskinny/gemm/assign/seeding/nearer_bytes.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

using assign_detail::CandidateDistances;
using assign_detail::chunk_count;

/// Small problems stay on one thread.
int team_for(const Context& ctx, index_t rows) noexcept {
  return static_cast<int>(std::clamp<index_t>(rows / (8 * chunk_rows), 1, ctx.thread_count()));
}

int gathering_team(const Context& ctx, index_t rows, index_t cols) noexcept {
  return assign_detail::team_size(ctx, rows, static_cast<double>(cols));
}

double weight_of(PerRow<const double> weights, index_t i) noexcept { return weights.empty() ? 1.0 : weights.data[i]; }

/// work(chunk, first row, rows of it, distances, scratch) for every chunk of rows in host memory.
template <class S, class Work>
void for_chunks(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                const Work& work) {
  const CandidateDistances<S> distances(ctx, x, unit, candidates);
  const index_t chunks = chunk_count(x.rows());
  const double products = static_cast<double>(chunk_rows * x.cols()) * static_cast<double>(candidates.rows());
  const int team = assign_detail::team_size(ctx, chunks, products);
  parallel_ranges(team, chunks, [&](index_t begin, index_t end) {
    auto scratch = distances.scratch();
    for (index_t c = begin; c < end; ++c) {
      const index_t first = c * chunk_rows;
      work(c, first, std::min(chunk_rows, x.rows() - first), distances, scratch);
    }
  });
}

/// The nearest candidate of each row; -1 may stand where none is nearer than D. Where scores leave many rows undecided,
/// as those of float32 do with a few rows far from all others, they do so all along: the first rows tell.
template <class S>
std::vector<std::int32_t> nearest_of(const Context& ctx, const Rows& x, const SeedingUnit& unit,
                                     HostView<const double> candidates, PerRow<const S> squared) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(x.rows()), -1);
  const PerRow<std::int32_t> all(labels);
  index_t first = 0;
  if (assign_detail::can_take_bytes(ctx, x, candidates.rows())) {
    constexpr index_t share = 32;  // of all pairs that may be met in float32
    for (bool pays = true; pays && first < x.rows();) {
      const index_t count = first == 0 ? std::min(x.rows(), 4 * chunk_rows) : x.rows() - first;
      const AssignStats stats = assign_detail::label_nearer<S>(
          ctx, {x.block(first, count), unit.moments, candidates, Scores::int8, all.part(first, count)},
          squared.part(first, count), unit.scale);
      pays = stats.rescored <= count / 4 && stats.met <= count * candidates.rows() / share;
      first += count;
    }
  }
  for (const Scores scores : {Scores::int8, Scores::float32, Scores::float64}) {
    if (first == x.rows()) break;
    const auto assign_next = [&](index_t count) {
      const index_t from = first;
      first += count;
      return assign(ctx, {x.block(from, count), unit.moments, candidates, scores, all.part(from, count)}).rescored;
    };
    const index_t tried = std::min(x.rows() - first, 4 * chunk_rows);
    if (scores == Scores::float64 || assign_next(tried) <= tried / 4) assign_next(x.rows() - first);
  }
  return labels;
}

template <class S>
void expect_potential(const Rows& x, HostView<const double> candidates, PerRow<const S> squared,
                      PerRow<const double> weights, index_t totals) {
  expects(candidates.cols() == x.cols(), "the candidates have another number of columns than the rows");
  assign_detail::expect_per_row(x, squared, "squared distances");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  expects(totals == chunk_count(x.rows()), "there must be one total for each chunk of rows");
}

}  // namespace

template <class S>
void lower_potential(const Context& ctx, const PotentialArguments<S>& of) {
  if (!of.rows.empty() && !(of.x.on_device() && assign_device::takes_rows(of))) {
    Matrix<double> candidates(std::ssize(of.rows), of.x.cols());
    gather_rows(ctx, of.x, of.rows, candidates.view());
    return lower_potential<S>(ctx, {of.x, of.unit, candidates.cview(), of.squared, of.weights, of.totals, of.nearest,
                                    of.first_number, of.labels});
  }
  expect_potential<S>(of.x, of.rows.empty() ? of.candidates : HostView<const double>(nullptr, 0, of.x.cols()),
                      of.squared, of.weights, std::ssize(of.totals));
  if (!of.nearest.empty()) assign_detail::expect_per_row(of.x, of.nearest, "nearest");
  if (!of.labels.empty()) assign_detail::expect_per_row(of.x, of.labels, "labels");
  if (of.x.on_device()) return assign_device::lower_potential<S>(ctx, of);
  const auto& kernels = assign_cpu::score_kernels<S>(assign_cpu::select(ctx.simd));
  // Beyond this, finding the nearest candidate by scores first costs less than all distances.
  constexpr index_t most_by_distance = 24;
  std::vector<std::int32_t> labels;
  if (of.candidates.rows() > most_by_distance) labels = nearest_of<S>(ctx, of.x, of.unit, of.candidates, of.squared);
  for_chunks<S>(ctx, of.x, of.unit, of.candidates,
                [&](index_t chunk, index_t first, index_t count, const CandidateDistances<S>& distances, auto& s) {
                  S* const least = of.squared.data + first;
                  if (labels.empty())
                    distances.to_all(first, count, s);
                  else
                    distances.to_labels(first, count, labels.data() + first, s);
                  for (index_t q = 0; q < (labels.empty() ? of.candidates.rows() : 1); ++q)
                    for (index_t r = 0; r < count; ++r) {
                      const S found = s.found(q, r);
                      if (of.nearest.empty()) {
                        least[r] = std::min(least[r], found);
                      } else if (found < least[r]) {
                        least[r] = found;
                        of.nearest.data[first + r] =
                            of.first_number + (labels.empty() ? static_cast<std::int32_t>(q)
                                                              : labels[static_cast<std::size_t>(first + r)]);
                      }
                    }
                  of.totals[static_cast<std::size_t>(chunk)] =
                      kernels.sum_of_least(least, least, of.weights.empty() ? nullptr : of.weights.data + first, count);
                });
}

template <class S>
void potential_with(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                    PerRow<const S> squared, PerRow<const double> weights, HostView<double> totals) {
  expect_potential<S>(x, candidates, squared, weights, totals.rows());
  expects(totals.cols() == candidates.rows(), "there must be a column of totals for each candidate");
  if (x.on_device()) return assign_device::potential_with<S>(ctx, x, unit, candidates, squared, weights, totals);
  const auto& kernels = assign_cpu::score_kernels<S>(assign_cpu::select(ctx.simd));
  for_chunks<S>(ctx, x, unit, candidates,
                [&](index_t chunk, index_t first, index_t count, const CandidateDistances<S>& distances, auto& s) {
                  distances.to_all(first, count, s);
                  for (index_t q = 0; q < candidates.rows(); ++q)
                    totals(chunk, q) = kernels.sum_of_least(squared.data + first, s.found.data() + q * s.found.ld(),
                                                            weights.empty() ? nullptr : weights.data + first, count);
                });
}

template <class S>
std::vector<index_t> draw_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                               std::span<const SeedingDraw> draws) {
  if (squared.space == Space::device) return assign_device::draw_rows<S>(ctx, squared, weights, draws);
  // Draws from one chunk share a walk through it.
  std::vector<std::size_t> order(draws.size()), firsts;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
    return std::pair(draws[p].first, draws[p].rest) < std::pair(draws[q].first, draws[q].rest);
  });
  for (std::size_t q = 0; q < order.size(); ++q)
    if (q == 0 || draws[order[q]].first != draws[order[q - 1]].first) firsts.push_back(q);
  firsts.push_back(order.size());
  std::vector<index_t> rows(draws.size());
  const index_t walks = std::ssize(firsts) - 1;
  parallel_for(team_for(ctx, walks * chunk_rows), walks, [&](index_t w) {
    std::size_t next = firsts[static_cast<std::size_t>(w)];
    const std::size_t end = firsts[static_cast<std::size_t>(w) + 1];
    const index_t first = draws[order[next]].first;
    double through = 0;
    index_t last = first;  // rounding may carry past the end: then the last row that can be drawn is
    for (index_t i = first; i < std::min(squared.size, first + chunk_rows) && next < end; ++i) {
      const double value = weight_of(weights, i) * static_cast<double>(squared.data[i]);
      if (value <= 0) continue;
      last = i;
      through += value;
      for (; next < end && draws[order[next]].rest < through; ++next) rows[order[next]] = i;
    }
    for (; next < end; ++next) rows[order[next]] = last;
  });
  return rows;
}

template <class S>
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights, double factor,
                               const Philox& random, index_t first_row) {
  if (squared.space == Space::device)
    return assign_device::keep_rows<S>(ctx, squared, weights, factor, random, first_row);
  constexpr index_t chunk = index_t{1} << 16;
  std::vector<std::vector<index_t>> parts(static_cast<std::size_t>((squared.size + chunk - 1) / chunk));
  parallel_for(team_for(ctx, squared.size), std::ssize(parts), [&](index_t c) {
    for (index_t i = c * chunk; i < std::min(squared.size, (c + 1) * chunk); ++i) {
      const double probability = factor * (weight_of(weights, i) * static_cast<double>(squared.data[i]));
      if (probability > 0 && random.uniform(static_cast<std::uint64_t>(first_row + i)) < probability)
        parts[static_cast<std::size_t>(c)].push_back(i);
    }
  });
  std::vector<index_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

Matrix<double> SeedingUnit::of(const Context& ctx, HostView<const double> rows) const {
  return assign_detail::scaled_centroids(ctx, rows, moments, scale);
}

bool can_choose(const Context& ctx, const Rows& x, const Choosing& how) {
  if (!x.on_device()) return !x.sparse() && x.rows() <= INT32_MAX;
  if (how.trials > cuda::most_trials || x.rows() * (x.cols() + 4) >= INT32_MAX) return false;
  const cuda::DeviceInfo& device = ctx.stream.device();
  const index_t row_bytes = (x.cols() + 4) * static_cast<index_t>(sizeof(double));
  const cuda::KernelPlan plan = cuda::seed_choose_plan(true, how.trials, x.rows(), row_bytes, device);
  return static_cast<index_t>(plan.shared_bytes) + plan.budget.shared_bytes <= device.shared_bytes_per_block;
}

template <class S>
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                       PerRow<const double> weights, const Choosing& how) {
  expects(can_choose(ctx, x, how), "choose_rows() cannot choose among these rows");
  assign_detail::expect_per_row(x, squared, "squared distances");
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  if (x.on_device()) return assign_device::choose_rows<S>(ctx, x, unit, squared, weights, how);
  assign_detail::HostChoices<S> choices(ctx, x, unit, squared.span(), weights.span());
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

Matrix<double> with_copies(const Context& ctx, HostView<const double> candidates, Space space) {
  const index_t count = candidates.rows();
  if (space == Space::host || count <= 8) return Matrix<double>::copy_of(candidates);
  Matrix<double> out(with_copies(count), candidates.cols());
  parallel_for(gathering_team(ctx, out.rows(), out.cols()), out.rows(), [&](index_t q) {
    std::copy_n(candidates.data() + std::min(q, count - 1) * candidates.ld(), out.cols(), out.data() + q * out.ld());
  });
  return out;
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  expects(out.rows() == std::ssize(numbers) && out.cols() == x.cols(), "gathered rows need room for each of them");
  expects(std::all_of(numbers.begin(), numbers.end(), [&](index_t i) { return i >= 0 && i < x.rows(); }),
          "a row to gather is outside of the matrix");
  if (x.on_device()) return assign_device::gather_rows(ctx, x, numbers, out);
  parallel_for(gathering_team(ctx, out.rows(), x.cols()), out.rows(),
               [&](index_t q) { x.load(numbers[static_cast<std::size_t>(q)], out.data() + q * out.ld()); });
}

template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == x.space(),
          "gathered rows need room for each of them, in the same memory");
  if (x.on_device()) return assign_device::gather_rows<S>(ctx, x, numbers, out);
  const bool as_is = !x.sparse() && x.type() == dtype_of<S> && x.col_stride() == 1 && !x.has_scale();
  parallel_ranges(gathering_team(ctx, std::ssize(numbers), x.cols()), std::ssize(numbers),
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

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 const SeedingUnit& unit) {
  expects(out.size == std::ssize(numbers) * x.cols() && out.space == Space::device && x.on_device(),
          "gathered rows need room for each of them, in the same memory");
  assign_device::gather_rows(ctx, x, numbers, out, unit);
}

TS_INSTANTIATE_POTENTIAL(float)
TS_INSTANTIATE_POTENTIAL(double)
template decltype(choose_rows<float>) choose_rows<float>;
template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::inline v0
