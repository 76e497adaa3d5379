#include "tallskinny/gemm/assign/seeding/launch.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/assign/rows/chunks.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/assign/scores/centroids.hpp"
#include "tallskinny/gemm/assign/scores/launch.hpp"
#include "tallskinny/gemm/assign/seeding/plan.hpp"
#include "tallskinny/gemm/assign/seeding/rows_in_unit.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::chunk_count;

template <class S>
cuda::Coordinates coordinates_of(const Rows& x, const SeedingUnit& unit) {
  if (is_wide<S>) return cuda::Coordinates::wide;
  const bool direct = x.type() != DType::float64 && !x.has_scale() && unit.scale >= 0x1p-100 && unit.scale <= 0x1p100;
  return direct ? cuda::Coordinates::direct : cuda::Coordinates::narrow;
}

/// The sums that `parts` of each chunk left, which are waited for.
void fetch_totals(const Context& ctx, std::span<double> totals, index_t parts, const double* from) {
  if (parts == 1) return fetch_numbers(ctx, totals, from);
  std::vector<double> sums(totals.size() * static_cast<std::size_t>(parts));
  fetch_numbers(ctx, std::span(sums), from);
  for (std::size_t c = 0; c < totals.size(); ++c) {
    const auto first = sums.begin() + static_cast<index_t>(c) * parts;
    totals[c] = std::accumulate(first, first + parts, 0.0);
  }
}

/// Without labels; `parts` of each chunk leave their sums.
template <class S>
cuda::SeedDistancesArguments arguments_of(const PotentialArguments<S>& of, const void* candidates, index_t count,
                                          const double* shift, index_t parts, double* totals) {
  cuda::SeedDistancesArguments a{};
  a.x = argument_of(of.x), a.d = static_cast<int>(of.x.cols()), a.candidates = candidates;
  a.shift = shift, a.scale = of.unit.scale, a.chunk = chunk_rows / parts;
  a.squared = of.squared.data, a.weights = of.weights.data, a.nearest = of.nearest.data;
  a.first_number = of.first_number, a.count = static_cast<int>(count), a.totals = totals;
  return a;
}

/// launch(arguments, room for the candidates in S), which have candidates in the coordinates of the unit and no labels;
/// what the `parts` of chunks leave comes to of.totals.
template <class S, class Launch>
void with_candidates(const Context& ctx, const PotentialArguments<S>& of, index_t parts, const Launch& launch) {
  const index_t count = of.candidates.rows(), d = of.candidates.cols();
  const Matrix<double> scaled = of.unit.of(ctx, of.candidates);
  Upload upload(ctx, count * d + d);
  upload.add(scaled.cview());
  upload.add(of.unit.moments.shift);
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), narrow = w.reserve<double>(count * d),
                    found = w.reserve<double>(std::ssize(of.totals) * parts);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  launch(arguments_of(of, w.at<double>(sent), count, w.at<double>(sent) + count * d, parts, w.at<double>(found)),
         w.at<S>(narrow));
  fetch_totals(ctx, of.totals, parts, w.at<double>(found));
}

/// One launch of assign/seeding/kernels/seed_distances.cuh; totals: chunks x what it leaves (policy.lower).
template <class S>
void launch_distances(const Context& ctx, bool lower, const PotentialArguments<S>& of) {
  const Rows& x = of.x;
  with_candidates(ctx, of, 1, [&](const cuda::SeedDistancesArguments& a, S*) {
    cuda::launch_with<cuda::SeedDistancesPolicy>(
        ctx, cuda::seed_distances_plan(lower, x.type(), coordinates_of<S>(x, of.unit), a.count, chunk_count(x.rows())),
        a);
  });
}

constexpr index_t parts_of_chunk = 8;  ///< of those below, so that samples have enough blocks

/// The same to the candidates of labels: assign/seeding/kernels/seed_labelled.cuh.
template <class S>
void launch_labelled(const Context& ctx, const PotentialArguments<S>& of, cuda::SeedDistancesArguments a) {
  cuda::launch_with<cuda::SeedLabelledPolicy>(ctx,
                                              cuda::seed_labelled_plan(of.x.type(), coordinates_of<S>(of.x, of.unit),
                                                                       parts_of_chunk * chunk_count(of.x.rows())),
                                              a);
}
template <class S>
void launch_labelled(const Context& ctx, const PotentialArguments<S>& of, const std::int32_t* labels) {
  const Rows& x = of.x;
  with_candidates(ctx, of, parts_of_chunk, [&](cuda::SeedDistancesArguments a, S* narrow) {
    const Rows wide(ctx.stream, DeviceView<const double>::unchecked(static_cast<const double*>(a.candidates), a.count,
                                                                    x.cols(), x.cols()));
    launch_gather<S>(ctx, wide, nullptr, a.count, nullptr, 1, narrow, x.cols());
    a.candidates = narrow, a.labels = labels;
    launch_labelled(ctx, of, a);
  });
}

/// Lowers by rows of x, which stay on the device; labels are overwritten.
void lower_by_rows(const Context& ctx, const PotentialArguments<float>& of, PerRow<std::int32_t> labels) {
  const Rows& x = of.x;
  const ColumnMoments& moments = of.unit.moments;
  const index_t d = x.cols(), count = std::ssize(of.rows), padded = with_copies(count);
  std::vector<index_t> rows(of.rows.begin(), of.rows.end());
  rows.resize(static_cast<std::size_t>(padded), rows.back());
  const cuda::Memory numbers = array<index_t>(ctx, padded), exact = array<double>(ctx, padded * d),
                     column = array<double>(ctx, padded), narrow = array<float>(ctx, count * d),
                     heads = array<std::uint16_t>(ctx, count * d), norms = array<cuda::SeedNorms>(ctx, count),
                     largest = array<unsigned>(ctx, 1),
                     totals = array<double>(ctx, parts_of_chunk * std::ssize(of.totals));
  Upload upload(ctx, d);
  const double* const shift = upload.next();
  upload.add(moments.shift);
  upload.send();
  cuda::copy_bytes(ctx.stream, numbers.data(), rows.data(), rows.size() * sizeof(index_t));
  launch_gather(ctx, x, as<const index_t>(numbers), padded, nullptr, 1, as<double>(exact), d);
  const Rows first_column(ctx.stream, DeviceView<const double>::unchecked(as<const double>(exact), padded, 1, d));
  launch_gather(ctx, first_column, nullptr, padded, nullptr, 1, as<double>(column), 1);
  launch_gather(ctx, x, as<const index_t>(numbers), count, shift, of.unit.scale, as<float>(narrow), d);
  cuda::fill_bytes(ctx.stream, largest.data(), 0, sizeof(unsigned));
  cuda::launch_with<cuda::SeedHeadsPolicy>(
      ctx, cuda::seed_heads_plan(count, ctx.stream.device()),
      {as<const float>(narrow), count, static_cast<int>(d), static_cast<int>(d), static_cast<int>(d), heads.data(),
       as<cuda::SeedNorms>(norms), as<unsigned>(largest)});
  constexpr double up = 1 + 0x1p-20;  // float32 has lost something
  PlacedCentroids placed;
  placed.spread.scale = assign_detail::scoring_scale(HostView<const double>(nullptr, 0, d), moments);
  const double norm = std::bit_cast<float>(fetch_number(ctx, as<const unsigned>(largest)));
  placed.spread.squared = std::pow(up * norm * (placed.spread.scale / of.unit.scale), 2);
  placed.sums.clusters = padded, placed.sums.shift = shift;
  placed.rows = as<const double>(exact), placed.first_column = as<const double>(column);
  (void)pass_over(ctx, {x, moments, placed, Scores::float32, labels});
  cuda::SeedDistancesArguments a = arguments_of(of, narrow.data(), count, shift, parts_of_chunk, as<double>(totals));
  a.labels = labels.data;
  launch_labelled(ctx, of, a);
  fetch_totals(ctx, of.totals, parts_of_chunk, as<const double>(totals));
}

/// Rows in T, which holds all numbers of x, through page-locked memory; threads write them as float64.
template <class T>
void fetch_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  constexpr index_t most_bytes = index_t{1} << 22;
  const index_t d = x.cols(), at_once = std::max<index_t>(1, most_bytes / (d * static_cast<index_t>(sizeof(T))));
  for (index_t first = 0; first < out.rows(); first += at_once) {
    const index_t count = std::min(at_once, out.rows() - first);
    const std::size_t of_numbers = static_cast<std::size_t>(count) * sizeof(index_t),
                      of_rows = static_cast<std::size_t>(count * d) * sizeof(T);
    cuda::Staging& staging = ctx.stream.staging();
    staging.begin(ctx.stream, cuda::Staging::rounded(of_numbers) + cuda::Staging::rounded(of_rows));
    const cuda::Staging::Stretch sent = staging.take(of_numbers), rows = staging.take(of_rows);
    std::copy_n(numbers.data() + first, count, static_cast<index_t*>(sent.host));
    cuda::Staging::upload(ctx.stream, sent);
    launch_gather(ctx, x, static_cast<const index_t*>(sent.device), count, nullptr, 1, static_cast<T*>(rows.device), d);
    cuda::Staging::download(ctx.stream, rows);
    ctx.stream.synchronize();
    parallel_for(assign_detail::team_size(ctx, count, static_cast<double>(d)), count, [&](index_t q) {
      std::copy_n(static_cast<const T*>(rows.host) + q * d, d, out.data() + (first + q) * out.ld());
    });
  }
}

/// With a unit, in its coordinates.
template <class S>
void gather_there(const Context& ctx, const Rows& x, std::span<const index_t> numbers, const SeedingUnit* unit,
                  S* out) {
  if (numbers.empty() || x.cols() == 0) return;
  const std::span<const double> moved = unit != nullptr ? std::span(unit->moments.shift) : std::span<const double>();
  Workspace w;
  const std::size_t sent = w.reserve<index_t>(std::ssize(numbers)), shift = w.reserve<double>(std::ssize(moved));
  w.get(ctx.stream);
  cuda::copy_bytes(ctx.stream, w.at<char>(sent), numbers.data(), numbers.size_bytes());
  cuda::copy_bytes(ctx.stream, w.at<char>(shift), moved.data(), moved.size_bytes());
  launch_gather(ctx, x, w.at<index_t>(sent), std::ssize(numbers), unit != nullptr ? w.at<double>(shift) : nullptr,
                unit != nullptr ? unit->scale : 1, out, x.cols());
  ctx.stream.synchronize();
}

}  // namespace

template <class S>
bool takes_rows(const PotentialArguments<S>& of) {
  return !is_wide<S> && std::ssize(of.rows) > cuda::most_seed_candidates && !of.x.has_scale();
}

template <class S>
void lower_potential(const Context& ctx, const PotentialArguments<S>& of) {
  const index_t n = of.x.rows();
  if (n == 0) return;
  // A single one is the nearest. Beyond a few, finding it by tensor instructions first costs less than all distances.
  constexpr index_t wide_row = 256;
  const bool one = of.candidates.rows() == 1 && of.x.cols() >= wide_row;
  const bool by_rows = !of.rows.empty();
  if (!by_rows && of.candidates.rows() <= cuda::most_seed_candidates && !one) return launch_distances<S>(ctx, true, of);
  cuda::Memory memory;
  PerRow<std::int32_t> labels = of.labels;
  if (labels.empty()) {
    memory = cuda::Memory(ctx.stream, static_cast<std::size_t>(n) * sizeof(std::int32_t));
    labels = {static_cast<std::int32_t*>(memory.data()), n, Space::device};
  }
  cuda::fill_bytes(ctx.stream, labels.data, one ? 0 : 0xff, static_cast<std::size_t>(n) * sizeof(std::int32_t));
  if constexpr (!is_wide<S>)
    if (by_rows) return lower_by_rows(ctx, of, labels);
  if (!one) {
    const Matrix<double> padded = with_copies(ctx, of.candidates, Space::device);
    (void)assign_rows(ctx, {of.x, of.unit.moments, padded.cview(), Scores::float32, labels});
  }
  launch_labelled<S>(ctx, of, labels.data);
}

template <class S>
void potential_with(const Context& ctx, const Rows& x, const SeedingUnit& unit, HostView<const double> candidates,
                    PerRow<const S> squared, PerRow<const double> weights, HostView<double> totals) {
  const index_t chunks = totals.rows();
  if (chunks == 0) return;
  // This task only reads the distances so far.
  const PerRow<S> only_read(const_cast<S*>(squared.data), squared.size, squared.space);
  for (index_t c = 0; c < candidates.rows(); c += cuda::most_seed_candidates) {
    const index_t count = std::min(cuda::most_seed_candidates, candidates.rows() - c),
                  width = cuda::seed_candidates(count);
    std::vector<double> found(static_cast<std::size_t>(chunks * width));
    launch_distances<S>(ctx, false, {x, unit, candidates.rows(c, count), only_read, weights, found});
    for (index_t chunk = 0; chunk < chunks; ++chunk)
      for (index_t q = 0; q < count; ++q) totals(chunk, c + q) = found[static_cast<std::size_t>(chunk * width + q)];
  }
}

template <class S>
std::vector<index_t> draw_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights,
                               std::span<const SeedingDraw> draws) {
  static_assert(sizeof(SeedingDraw) == sizeof(cuda::DrawArgument), "copied as they are");
  const auto count = std::ssize(draws);
  std::vector<index_t> rows(draws.size());
  if (count == 0) return rows;
  Workspace w;
  const std::size_t sent = w.reserve<SeedingDraw>(count), found = w.reserve<index_t>(count);
  w.get(ctx.stream);
  cuda::copy_bytes(ctx.stream, w.at<char>(sent), draws.data(), draws.size_bytes());
  cuda::launch_with<cuda::SeedDrawPolicy>(
      ctx, cuda::seed_draw_plan(is_wide<S>, count),
      {squared.data, weights.data, squared.size, chunk_rows, w.at<cuda::DrawArgument>(sent), w.at<index_t>(found)});
  fetch_numbers(ctx, std::span(rows), w.at<index_t>(found));
  return rows;
}

template <class S>
std::vector<index_t> keep_rows(const Context& ctx, PerRow<const S> squared, PerRow<const double> weights, double factor,
                               const Philox& random, index_t first_row) {
  const index_t n = squared.size, words = (n + 63) / 64;
  std::vector<index_t> rows;
  if (n == 0) return rows;
  const std::size_t bytes = static_cast<std::size_t>(words) * sizeof(std::uint64_t);
  cuda::Staging& staging = ctx.stream.staging();
  staging.begin(ctx.stream, cuda::Staging::rounded(bytes));
  const cuda::Staging::Stretch kept = staging.take(bytes);
  Workspace w;
  const std::size_t found = w.reserve<std::uint64_t>(words);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<std::uint64_t>(found) + words - 1, 0, sizeof(std::uint64_t));
  cuda::launch_with<cuda::SeedKeepPolicy>(
      ctx, cuda::threads_plan("seed_keep", cuda::SeedKeepPolicy{is_wide<S>}, n),
      {squared.data, weights.data, n, first_row, factor, random.stream, random.key, w.at<std::uint32_t>(found)});
  cuda::Staging::download(ctx.stream, kept, w.at<char>(found));
  ctx.stream.synchronize();
  const auto* const marks = static_cast<const std::uint64_t*>(kept.host);
  index_t count = 0;
  for (index_t word = 0; word < words; ++word) count += std::popcount(marks[word]);
  rows.reserve(static_cast<std::size_t>(count));
  for (index_t word = 0; word < words; ++word)
    for (std::uint64_t left = marks[word]; left != 0; left &= left - 1)
      rows.push_back(64 * word + std::countr_zero(left));
  return rows;
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, HostView<double> out) {
  if (numbers.empty() || x.cols() == 0) return;
  if (x.type() == DType::float64 || x.has_scale()) return fetch_rows<double>(ctx, x, numbers, out);
  return fetch_rows<float>(ctx, x, numbers, out);
}

template <class S>
void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<S> out) {
  gather_there(ctx, x, numbers, nullptr, out.data);
}

void gather_rows(const Context& ctx, const Rows& x, std::span<const index_t> numbers, PerRow<double> out,
                 const SeedingUnit& unit) {
  gather_there(ctx, x, numbers, &unit, out.data);
}

std::vector<std::uint64_t> count_numbers(const Context& ctx, PerRow<const std::int32_t> numbers, index_t count) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(count));
  if (numbers.empty() || count == 0) return counts;
  Workspace w;
  const std::size_t found = w.reserve<std::uint64_t>(count);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(found), 0, counts.size() * sizeof(std::uint64_t));
  cuda::launch_with<cuda::SeedCountPolicy>(
      ctx, cuda::seed_count_plan(count, numbers.size, ctx.stream.device()),
      {numbers.data, numbers.size, static_cast<int>(count), w.at<cuda::word64>(found)});
  fetch_numbers(ctx, std::span(counts), w.at<std::uint64_t>(found));
  return counts;
}

TS_INSTANTIATE_POTENTIAL(float)
TS_INSTANTIATE_POTENTIAL(double)
template decltype(takes_rows<float>) takes_rows<float>;
template decltype(takes_rows<double>) takes_rows<double>;

}  // namespace ts::inline v0::assign_device
