#include "tallskinny/solvers/kmeans/seeding/launch.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "tallskinny/solvers/kmeans/pass/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/chunks.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// The numbers are on the device; null: all rows. With a shift, (x - shift) scale.
template <class S>
void launch_gather(const Context& ctx, const Rows& x, const index_t* numbers, index_t count, const double* shift,
                   double scale, S* out) {
  const cuda::SeedGatherPolicy policy{x.type(), sizeof(S) == sizeof(double)};
  launch_threads(ctx, "seed_gather", policy, count * x.cols(),
                 {argument_of(x), static_cast<int>(x.cols()), numbers, count, shift, scale, out});
}

/// Rows in T, which holds all numbers of x, through page-locked memory; threads write them as float64.
template <class T>
void fetch_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  constexpr index_t most_bytes = index_t{1} << 22;
  const index_t d = x.cols(), at_once = std::max<index_t>(1, most_bytes / (d * static_cast<index_t>(sizeof(T))));
  for (index_t first = 0; first < out.rows(); first += at_once) {
    const index_t count = std::min(at_once, out.rows() - first);
    const std::size_t of_numbers = at(count) * sizeof(index_t), of_rows = at(count * d) * sizeof(T);
    cuda::Staging& staging = ctx.stream.staging();
    staging.begin(ctx.stream, cuda::Staging::rounded(of_numbers) + cuda::Staging::rounded(of_rows));
    const cuda::Staging::Stretch sent = staging.take(of_numbers), rows = staging.take(of_rows);
    std::copy_n(numbers.data() + first, count, static_cast<index_t*>(sent.host));
    cuda::Staging::upload(ctx.stream, sent);
    launch_gather(ctx, x, static_cast<const index_t*>(sent.device), count, nullptr, 1, static_cast<T*>(rows.device));
    cuda::Staging::download(ctx.stream, rows);
    ctx.stream.synchronize();
    parallel_for(assign_detail::team_size(ctx, count, static_cast<double>(d)), count, [&](index_t q) {
      std::copy_n(static_cast<const T*>(rows.host) + q * d, d, out.data() + (first + q) * out.ld());
    });
  }
}

/// Rows of d numbers on the device.
Rows rows_there(const Context& ctx, const cuda::Memory& numbers, index_t rows, index_t cols, index_t ld) {
  return {ctx.stream, DeviceView<const double>::unchecked(as<const double>(numbers), rows, cols, ld)};
}

/// Candidates with copies of the last, on the device.
cuda::Memory place_candidates(const Context& ctx, const PotentialArguments& of, index_t count, index_t padded) {
  const index_t d = of.x.cols();
  cuda::Memory there = array<double>(ctx, padded * d);
  if (of.rows.empty()) {
    Matrix<double> all(padded, d);
    for (index_t q = 0; q < padded; ++q)
      std::copy_n(of.candidates.data() + std::min(q, count - 1) * of.candidates.ld(), d, &all(q, 0));
    cuda::copy_bytes(ctx.stream, there.data(), all.data(), there.bytes());
    return there;
  }
  std::vector<index_t> rows(of.rows.begin(), of.rows.end());
  rows.resize(at(padded), rows.back());
  gather_rows(ctx, of.x, rows, static_cast<double*>(there.data()));
  return there;
}

/// The nearest candidate of each row, found by tensor instructions.
void label_rows(const Context& ctx, const PotentialArguments& of, const cuda::Memory& candidates, index_t padded,
                PerRow<std::int32_t> labels) {
  constexpr double up = 1 + 0x1p-20;  // float32 has lost something
  const index_t d = of.x.cols();
  const ColumnMoments& moments = of.moments;
  const Rows rows = rows_there(ctx, candidates, padded, d, d);
  const cuda::Memory column = array<double>(ctx, padded), largest = array<unsigned>(ctx, 1),
                     shift = array<double>(ctx, d);
  launch_gather(ctx, rows_there(ctx, candidates, padded, 1, d), nullptr, padded, nullptr, 1, as<double>(column));
  PlacedCentroids placed;
  placed.sums.clusters = padded, placed.sums.shift = as<const double>(shift);
  placed.rows = as<const double>(candidates), placed.first_column = as<const double>(column);
  cuda::copy_bytes(ctx.stream, shift.data(), moments.shift.data(), shift.bytes());
  cuda::fill_bytes(ctx.stream, largest.data(), 0, sizeof(unsigned));
  cuda::SeedBatchArguments norms{};
  norms.x = argument_of(rows), norms.d = norms.columns = static_cast<int>(d);
  placed.spread.scale =
      assign_detail::scoring_scale(of.rows.empty() ? of.candidates : HostView<const double>(nullptr, 0, d), moments);
  norms.shift = placed.sums.shift, norms.scale = placed.spread.scale, norms.largest = as<unsigned>(largest);
  launch_warps(ctx, "seed_halves", cuda::SeedBatchPolicy{rows.type()}, padded, norms, 64);
  placed.spread.squared = std::pow(up * std::bit_cast<float>(fetch_number(ctx, as<const unsigned>(largest))), 2);
  (void)pass_over(ctx, {of.x, moments, placed, Scores::float32, labels});
}

}  // namespace

void lower_potential(const Context& ctx, const PotentialArguments& of) {
  const index_t n = of.x.rows(), d = of.x.cols();
  if (n == 0) return;
  const index_t count = of.rows.empty() ? of.candidates.rows() : std::ssize(of.rows), padded = with_copies(count);
  constexpr index_t parts = 8;  // of chunks, since a thread has one
  using Task = cuda::DistancesTask;
  const index_t all = parts * assign_detail::chunk_count(n);
  const cuda::Memory candidates = place_candidates(ctx, of, count, padded), labels = array<std::int32_t>(ctx, n),
                     totals = array<double>(ctx, all);
  cuda::fill_bytes(ctx.stream, labels.data(), count == 1 ? 0 : 0xff, labels.bytes());
  cuda::fill_bytes(ctx.stream, totals.data(), 0, totals.bytes());  // the last chunk may have parts without rows
  if (count > 1) label_rows(ctx, of, candidates, padded, {as<std::int32_t>(labels), n, Space::device});
  cuda::DistancesArguments a{argument_of(of.x), static_cast<int>(d), as<const double>(candidates),
                             as<const int>(labels)};
  a.weights = of.weights.data, a.chunk = chunk_rows / parts, a.distances = of.squared.data, a.out = as<double>(totals);
  a.nearest = of.nearest.data, a.first_number = of.first_number;
  for (const auto& [task, threads] :
       {std::pair{Task::lower, n * cuda::DistancesPolicy::lanes}, {Task::inertia_of_chunks, all}})
    launch_threads(ctx, "assign_distances", cuda::DistancesPolicy{of.x.type(), task}, threads, a);
  std::vector<double> sums(at(all));
  fetch_numbers(ctx, std::span(sums), as<const double>(totals));
  for (std::size_t c = 0; c < of.totals.size(); ++c) {
    const auto first = sums.begin() + static_cast<index_t>(c) * parts;
    of.totals[c] = std::accumulate(first, first + parts, 0.0);
  }
}

std::vector<index_t> keep_rows(const Context& ctx, PerRow<const double> squared, PerRow<const double> weights,
                               double factor, const Philox& random, index_t first_row) {
  const index_t n = squared.size, words = (n + 63) / 64;
  std::vector<index_t> rows;
  if (n == 0) return rows;
  std::vector<std::uint64_t> marks(at(words));
  Workspace w;
  const std::size_t found = w.reserve<std::uint64_t>(words);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<std::uint64_t>(found) + words - 1, 0, sizeof(std::uint64_t));
  launch_threads(
      ctx, "seed_keep", cuda::SeedKeepPolicy{}, n,
      {squared.data, weights.data, n, first_row, factor, random.stream, random.key, w.at<std::uint32_t>(found)});
  fetch_numbers(ctx, std::span(marks), w.at<std::uint64_t>(found));
  for (index_t word = 0; word < words; ++word)
    for (std::uint64_t left = marks[at(word)]; left != 0; left &= left - 1)
      rows.push_back(64 * word + std::countr_zero(left));
  return rows;
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  if (numbers.empty() || x.cols() == 0) return;
  if (x.type() == DType::float64 || x.has_scale()) return fetch_rows<double>(ctx, x, numbers, out);
  return fetch_rows<float>(ctx, x, numbers, out);
}

template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, S* out,
                 std::span<const double> moved, double scale) {
  if (numbers.empty() || x.cols() == 0) return;
  Workspace w;
  const std::size_t sent = w.reserve<index_t>(std::ssize(numbers)), shift = w.reserve<double>(std::ssize(moved));
  w.get(ctx.stream);
  cuda::copy_bytes(ctx.stream, w.at<char>(sent), numbers.data(), numbers.size_bytes());
  cuda::copy_bytes(ctx.stream, w.at<char>(shift), moved.data(), moved.size_bytes());
  launch_gather(ctx, x, w.at<index_t>(sent), std::ssize(numbers), moved.empty() ? nullptr : w.at<double>(shift), scale,
                out);
  ctx.stream.synchronize();
}
template void gather_rows<float>(const Context&, const Rows&, std::span<const index_t>, float*, std::span<const double>,
                                 double);
template void gather_rows<double>(const Context&, const Rows&, std::span<const index_t>, double*,
                                  std::span<const double>, double);

}  // namespace ts::inline v0::assign_device
