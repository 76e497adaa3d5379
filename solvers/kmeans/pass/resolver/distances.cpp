#include "tallskinny/solvers/kmeans/pass/resolver/distances.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"
#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/policy.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/plan.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/upload.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::chunk_count;
using Task = cuda::DistancesTask;

/// Starts assign_distances after setting the arguments that follow from the rows.
void launch_distances(const Context& ctx, Task task, const Rows& x, index_t threads, cuda::DistancesArguments of) {
  of.x = argument_of(x), of.d = static_cast<int>(x.cols());
  launch_threads(ctx, "assign_distances", cuda::DistancesPolicy{x.type(), task}, threads, of);
}

/// use(first row, rows, their distances in device memory, memory for a number for each chunk of them) for
/// blocks of whole chunks. @param centroids in device memory
template <class Use>
void for_own_distances(const Context& ctx, const Rows& x, const double* centroids, PerRow<const std::int32_t> labels,
                       index_t chunk, Use&& use) {
  constexpr index_t block = 4096 * chunk_rows;
  const index_t most = std::min(block, x.rows());
  Workspace w;
  const std::size_t found = w.reserve<double>(most), chunks = w.reserve<double>(cuda::ceil_div(most, chunk));
  w.get(ctx.stream);
  for (index_t i = 0; i < x.rows(); i += block) {
    const Rows rows = x.block(i, std::min(block, x.rows() - i));
    launch_distances(ctx, Task::own, rows, rows.rows() * cuda::DistancesPolicy::lanes,
                     {.centroids = centroids, .labels = labels.data + i, .distances = w.at<double>(found)});
    use(i, rows, w.at<double>(found), w.at<double>(chunks));
  }
  ctx.stream.synchronize();
}

/// Copies centroids from host memory as the kernel reads them.
cuda::Memory upload_of(const Context& ctx, HostView<const double> centroids) {
  Upload upload(ctx, centroids.rows() * centroids.cols());
  upload.add(centroids);
  cuda::Memory placed = array<double>(ctx, upload.size());
  upload.send(as<double>(placed));
  return placed;
}

void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances) {
  const cuda::Memory placed = upload_of(ctx, centroids);
  const auto fetch = [&](index_t i, const Rows& rows, const double* found, double*) {
    cuda::copy_bytes(ctx.stream, distances.data() + i, found, at(rows.rows()) * sizeof(double));
  };
  for_own_distances(ctx, x, as<double>(placed), labels, chunk_rows, fetch);
}

std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  std::vector<double> partial(at(chunk_count(x.rows())));
  const cuda::Memory placed = upload_of(ctx, centroids);
  const auto add_up = [&](index_t i, const Rows& rows, double* found, double* chunks) {
    const index_t count = chunk_count(rows.rows());
    const double* const weigh = weights.part(i, rows.rows()).data;
    launch_distances(ctx, Task::inertia_of_chunks, rows, count,
                     {.weights = weigh, .chunk = chunk_rows, .distances = found, .out = chunks});
    cuda::copy_bytes(ctx.stream, partial.data() + i / chunk_rows, chunks, at(count) * sizeof(double));
  };
  for_own_distances(ctx, x, as<double>(placed), labels, chunk_rows, add_up);
  return partial;
}

index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels) {
  if (x.rows() == 0) return 0;
  const index_t k = centroids.rows(), d = x.cols();
  Matrix<double> by_columns(d, k);
  for (index_t m = 0; m < k; ++m)
    for (index_t j = 0; j < d; ++j) by_columns(j, m) = centroids(m, j);
  Upload upload(ctx, k * d);
  upload.add(by_columns.cview());
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), wrong = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  cuda::fill_bytes(ctx.stream, w.at<char>(wrong), 0, sizeof(std::uint64_t));
  const cuda::CentroidsArgument c{
      nullptr, w.at<double>(sent), nullptr, static_cast<int>(k), static_cast<int>(k), static_cast<int>(d), 1, 1};
  launch_warps(ctx, "assign_verify", cuda::VerifyPolicy{x.type()}, x.rows(),
               {argument_of(x), c, labels.data, w.at<cuda::word64>(wrong)});
  return static_cast<index_t>(fetch_number(ctx, w.at<cuda::word64>(wrong)));
}

}  // namespace

std::vector<FarRow> farthest_rows(const Context& ctx, const Rows& x, const double* centroids,
                                  PerRow<const std::int32_t> labels, index_t count) {
  constexpr index_t chunk = cuda::DistancesPolicy::threads;
  std::vector<FarRow> far;
  const auto find = [&](index_t i, const Rows& rows, double* found, double* chunks) {
    std::vector<double> largest(at(cuda::ceil_div(rows.rows(), chunk)));
    launch_distances(ctx, Task::largest_of_chunks, rows, 32 * std::ssize(largest),
                     {.chunk = chunk, .distances = found, .out = chunks});
    fetch_numbers<double>(ctx, largest, chunks);
    // A row of another chunk than these has `count` rows before it.
    std::vector<FarRow> first;
    for (std::size_t c = 0; c < largest.size(); ++c) first.push_back({largest[c], static_cast<index_t>(c), 0});
    keep_farthest(first, count);
    // The largest of so many chunks are no nearer than this.
    const double least = std::ssize(first) == count ? first.back().squared_distance : 0;
    std::vector<int> listed;
    for (const FarRow& each : first) listed.push_back(static_cast<int>(each.row));
    const PerRowArray<int> list(ctx, Space::device, listed);
    const cuda::Memory counted = array<std::uint64_t>(ctx, 1), out = array<double>(ctx, 3 * std::ssize(listed) * chunk);
    cuda::fill_bytes(ctx.stream, counted.data(), 0, sizeof(std::uint64_t));
    launch_distances(ctx, Task::listed_chunks, rows, std::ssize(listed) * chunk,
                     {.labels = labels.data + i,
                      .chunk = chunk,
                      .listed = list.view().data,
                      .least = least,
                      .found = as<cuda::word64>(counted),
                      .distances = found,
                      .out = as<double>(out)});
    std::vector<double> of_rows(3 * fetch_number(ctx, as<cuda::word64>(counted)));
    fetch_numbers<double>(ctx, of_rows, as<double>(out));
    for (std::size_t q = 0; q < of_rows.size(); q += 3)
      far.push_back({of_rows[q], i + static_cast<index_t>(of_rows[q + 1]), static_cast<index_t>(of_rows[q + 2])});
    keep_farthest(far, count);
  };
  for_own_distances(ctx, x, centroids, labels, chunk, find);
  return far;
}

}  // namespace ts::inline v0::assign_device

namespace ts::inline v0 {

namespace {

using assign_detail::chunk_count;
using assign_detail::sparse_squared_distance;
using assign_detail::squared_norm;

/// Exact-difference distances of single rows to centroids.
class Direct {
 public:
  Direct(const Context& ctx, const Rows& x, HostView<const double> centroids)
      : kernels_(assign_cpu::select(ctx.simd)), x_(x), c_(Matrix<double>::copy_of(centroids)), none_(at(x.cols())) {
    if (x.sparse())
      for (index_t m = 0; m < c_.rows(); ++m)
        norms_.push_back(squared_norm<long double>(c_.data() + m * c_.cols(), c_.cols()));
  }

  struct Scratch {
    std::vector<double> row, own;
    std::vector<index_t> rows;
    std::vector<FarRow> far;
  };
  void load(index_t i, Scratch& s) const {
    s.row.resize(at(x_.entries(i)));
    if (x_.sparse())
      x_.load_entries(i, s.row.data());
    else
      kernels_.centred(x_, i, none_.data(), s.row.data());
  }
  /// Squared distances of a chunk's rows from `first` on to the centroids of their labels.
  void own(index_t first, index_t count, const std::int32_t* labels, Scratch& s, double* out) const {
    if (x_.sparse()) {
      for (index_t q = 0; q < count; ++q) load(first + q, s), out[q] = to(first + q, labels[first + q], s);
      return;
    }
    s.row.resize(none_.size()), s.rows.resize(at(count));
    std::iota(s.rows.begin(), s.rows.end(), first);
    kernels_.own_squared_distances(x_, s.rows.data(), count, {labels, c_.data(), none_.data(), 1}, s.row.data(), out);
  }
  [[nodiscard]] double to(index_t i, index_t m, const Scratch& s) const {
    const double* c = c_.data() + m * c_.cols();
    if (!x_.sparse()) return kernels_.squared_distance(s.row.data(), c, c_.cols());
    return static_cast<double>(
        sparse_squared_distance(s.row.data(), x_.indices() + x_.pointers()[i], x_.entries(i), c, norms_[at(m)]));
  }
  /// Bound of the rounding error of a distance: relative to it for dense rows, to the norms for sparse ones.
  [[nodiscard]] double rounding(double distance, index_t m, const Scratch& s) const {
    const double d = static_cast<double>(c_.cols() + 3);
    if (!x_.sparse()) return d * 0x1p-51 * distance;
    const auto norm = squared_norm<long double>(s.row.data(), static_cast<index_t>(s.row.size()));
    return d * 0x1p-51 * distance + d * 0x1p-61 * static_cast<double>(norm + norms_[at(m)]);
  }
  [[nodiscard]] index_t k() const noexcept { return c_.rows(); }

 private:
  const assign_cpu::AssignKernels& kernels_;
  const Rows& x_;
  Matrix<double> c_;
  std::vector<double> none_;  ///< a shift of zero
  std::vector<long double> norms_;
};

/// use(first row, rows, scratch, chunk) for every chunk, in parallel. Returns the scratch of all threads.
template <class Use>
std::vector<Direct::Scratch> for_each_chunk(const Context& ctx, index_t rows, const Use& use) {
  constexpr double products_per_chunk = 16.0 * chunk_rows;  // at the least
  const index_t chunks = chunk_count(rows);
  const int team = assign_detail::team_size(ctx, chunks, products_per_chunk);
  std::vector<Direct::Scratch> scratch(at(team));
  parallel_pieces(team, chunks, [&](index_t c, int thread) {
    const index_t first = c * chunk_rows;
    use(first, std::min(chunk_rows, rows - first), scratch[at(thread)], c);
  });
  return scratch;
}
/// use(i, scratch, chunk) for every row, those of a chunk in order.
template <class Use>
std::vector<Direct::Scratch> for_each_row(const Context& ctx, index_t rows, const Use& use) {
  return for_each_chunk(ctx, rows, [&](index_t first, index_t count, Direct::Scratch& s, index_t chunk) {
    for (index_t i = first; i < first + count; ++i) use(i, s, chunk);
  });
}

void expect_labels(const Rows& x, HostView<const double> centroids, PerRow<const std::int32_t> labels) {
  expects(centroids.cols() == x.cols(), "the centroids have another number of columns than the rows");
  assign_detail::expect_per_row(x, labels, "labels");
}

}  // namespace

std::vector<double> chunk_inertias(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                   PerRow<const std::int32_t> labels, PerRow<const double> weights) {
  expect_labels(x, centroids, labels);
  if (!weights.empty()) assign_detail::expect_per_row(x, weights, "weights");
  if (x.on_device()) return assign_device::chunk_inertias(ctx, x, centroids, labels, weights);
  const Direct direct(ctx, x, centroids);
  std::vector<double> partial(at(chunk_count(x.rows())));
  for_each_chunk(ctx, x.rows(), [&](index_t first, index_t count, Direct::Scratch& s, index_t chunk) {
    s.own.resize(chunk_rows);
    direct.own(first, count, labels.data, s, s.own.data());
    double& sum = partial[at(chunk)];
    for (index_t q = 0; q < count; ++q) {
      const double weight = weights.empty() ? 1.0 : weights.data[first + q];
      if (weight != 0) sum += weight * s.own[at(q)];  // the distance may be infinite
    }
  });
  return partial;
}

void own_squared_distances(const Context& ctx, const Rows& x, HostView<const double> centroids,
                           PerRow<const std::int32_t> labels, std::span<double> distances) {
  expect_labels(x, centroids, labels);
  expects(static_cast<index_t>(distances.size()) == x.rows(), "distances must have one entry for each row");
  if (x.on_device()) return assign_device::own_squared_distances(ctx, x, centroids, labels, distances);
  const Direct direct(ctx, x, centroids);
  for_each_chunk(ctx, x.rows(), [&](index_t first, index_t count, Direct::Scratch& s, index_t) {
    direct.own(first, count, labels.data, s, distances.data() + first);
  });
}

void keep_farthest(std::vector<FarRow>& rows, index_t count) {
  const auto farther = [](const FarRow& a, const FarRow& b) {
    return a.squared_distance > b.squared_distance || (a.squared_distance == b.squared_distance && a.row < b.row);
  };
  const auto end = rows.begin() + std::min(count, std::ssize(rows));
  std::nth_element(rows.begin(), end, rows.end(), farther);
  rows.erase(end, rows.end());
  std::sort(rows.begin(), rows.end(), farther);
}

std::vector<FarRow> farthest_rows(const Context& ctx, const Rows& x, HostView<const double> centroids,
                                  PerRow<const std::int32_t> labels, index_t count) {
  expect_labels(x, centroids, labels);
  if (x.on_device()) {
    const cuda::Memory placed = assign_device::upload_of(ctx, centroids);
    return assign_device::farthest_rows(ctx, x, assign_device::as<double>(placed), labels, count);
  }
  const Direct direct(ctx, x, centroids);
  const auto scratch = for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t) {
    direct.load(i, s);
    s.far.push_back({direct.to(i, labels.data[i], s), i, labels.data[i]});
    if (std::ssize(s.far) == 2 * count + chunk_rows) keep_farthest(s.far, count);
  });
  std::vector<FarRow> far;
  for (const Direct::Scratch& s : scratch) far.insert(far.end(), s.far.begin(), s.far.end());
  keep_farthest(far, count);
  return far;
}

double inertia(const Context& ctx, const Rows& x, HostView<const double> centroids, PerRow<const std::int32_t> labels,
               PerRow<const double> weights) {
  const std::vector<double> partial = chunk_inertias(ctx, x, centroids, labels, weights);
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

index_t count_misassigned(const Context& ctx, const Rows& x, HostView<const double> centroids,
                          PerRow<const std::int32_t> labels) {
  expect_labels(x, centroids, labels);
  if (x.on_device()) return assign_device::count_misassigned(ctx, x, centroids, labels);
  const Direct direct(ctx, x, centroids);
  std::vector<index_t> wrong(at(chunk_count(x.rows())));
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t chunk) {
    direct.load(i, s);
    const index_t label = labels.data[i];
    if (label < 0 || label >= direct.k()) {
      ++wrong[at(chunk)];
      return;
    }
    const double own = direct.to(i, label, s), limit = own - direct.rounding(own, label, s);
    for (index_t m = 0; m < direct.k(); ++m)
      if (direct.to(i, m, s) < limit) {
        ++wrong[at(chunk)];
        break;
      }
  });
  index_t sum = 0;
  for (const index_t w : wrong) sum += w;
  return sum;
}

void distances(const Context& ctx, const Rows& x, HostView<const double> centroids, HostView<double> out) {
  expects(centroids.cols() == x.cols(), "the centroids have another number of columns than the rows");
  expects(out.rows() == x.rows() && out.cols() == centroids.rows(),
          "distances need room for one row for each point and one column for each centroid");
  expects(!x.on_device(), "distances of all rows to all centroids are computed for rows in host memory only");
  const Direct direct(ctx, x, centroids);
  for_each_row(ctx, x.rows(), [&](index_t i, Direct::Scratch& s, index_t) {
    direct.load(i, s);
    for (index_t m = 0; m < direct.k(); ++m) out(i, m) = std::sqrt(direct.to(i, m, s));
  });
}

}  // namespace ts::inline v0
