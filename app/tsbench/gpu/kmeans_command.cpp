#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/words.hpp"
#include "tallskinny/gemm/assign/assign.hpp"
#include "tallskinny/gemm/assign/clusters/clusters.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::bench {

namespace {

struct KMeansCase {
  index_t n = 0, d = 0, k = 0;
  DType type = DType::float32;
  bool clustered = false;  ///< rows lie around k centres; otherwise they are normal
};

struct KMeansMeasured {
  KMeansCase what;
  Timing pass;          ///< in which no label changes, nor is expected to
  double first = 0;     ///< seconds of the pass in which all rows come from nowhere
  double bytes = 0;     ///< of rows and labels
  double flops = 0;     ///< 2 n d k
  double rescored = 0;  ///< share of the rows that were decided again
  index_t wrong = 0;    ///< labels, of the rows that were compared with all distances in float64
  bool same_bits = false;

  struct Limit {
    double seconds;
    const char* by;
  };
  /// No pass can be faster than this: all bytes at the read rate, all products at that of 16-bit tensor instructions,
  /// or the best and second best of all scores: for two of them a minimum and a maximum, a maximum, a minimum and a
  /// minimum of three by units with half as many lanes as those that multiply and add in float32.
  [[nodiscard]] Limit limit(const cuda::DeviceInfo& roofs) const {
    constexpr double operations_of_a_score = 2.5, flops_of_an_operation = 4;
    const double scores = static_cast<double>(what.n) * static_cast<double>(what.k);
    return std::max(
        {Limit{bytes / roofs.read_bytes_per_second, "bytes"}, Limit{flops / roofs.half_tensor_flops, "products"},
         Limit{scores * operations_of_a_score * flops_of_an_operation / roofs.float32_flops, "least"}},
        [](const Limit& a, const Limit& b) { return a.seconds < b.seconds; });
  }
};

constexpr index_t distinct_elements = 1 << 22, least_of_a_cluster = 16, most_checked = 1 << 14;
constexpr int steps = 4;
constexpr unsigned char no_label = 0xff;  // every byte of -1

/// Iterations over some rows start from this, and leave it.
struct State {
  PerRowArray<std::int32_t> labels;
  Clusters clusters;

  State(const Context& ctx, index_t n, const ColumnMoments& moments, const FixedPoint& unit,
        HostView<const double> centroids)
      : labels(ctx, Space::device, n, no_label),
        clusters(ctx, Space::device, moments, unit, Matrix<double>::copy_of(centroids)) {}
};

/// n rows, of which only the first `distinct` differ.
template <class T>
DeviceMatrix<T> points(const Context& ctx, const KMeansCase& c, index_t distinct) {
  const double spread = c.clustered ? 0.1 : 1, box = c.clustered ? 1 : 0;
  const generators::Blobs blobs(distinct, c.d, c.k, spread, box, 0, 7);
  Matrix<T> some(distinct, c.d);
  blobs.fill(0, some.view());
  DeviceMatrix<T> x(ctx.stream, c.n, c.d);
  copy(ctx.stream, x.view().rows(0, distinct), some.cview());
  for (index_t i = distinct; i < c.n; i += distinct) {
    const index_t count = std::min(distinct, c.n - i);
    copy(ctx.stream, x.view().rows(i, count), x.cview().rows(0, count));
  }
  ctx.stream.synchronize();
  return x;
}

Matrix<double> centroids_after_steps(const Context& ctx, const Rows& x, const ColumnMoments& moments,
                                     const FixedPoint& unit, index_t k) {
  Matrix<double> c(k, x.cols());
  for (index_t m = 0; m < k; ++m) x.load(m * (x.rows() / k), c.data() + m * x.cols());
  PerRowArray<std::int32_t> labels(ctx, Space::device, x.rows(), no_label);
  ClusterSums sums(k, x.cols());
  for (int s = 0; s < steps; ++s) {
    assign(ctx, {x, moments, c.cview(), Scores::float32, labels.view(), {}, &unit, &sums});
    for (index_t m = 0; m < k; ++m)
      for (index_t j = 0; j < x.cols() && !sums.weightless(m); ++j)
        c(m, j) = sums.mean(unit, m, j, moments.shift[static_cast<std::size_t>(j)]);
  }
  return c;
}

/// Centroids are those of some steps on a part of the rows, which are repeated to make n.
template <class T>
KMeansMeasured measure(const Context& ctx, const KMeansCase& c, int repetitions) {
  const index_t distinct = std::min(c.n, std::max(least_of_a_cluster * c.k, distinct_elements / c.d));
  const DeviceMatrix<T> points_there = points<T>(ctx, c, distinct);
  const Rows x(ctx.stream, points_there.cview());
  const auto moments = column_moments(ctx, x.block(0, distinct));  // those of all rows but for repetition
  const FixedPoint unit(moments.reach, 1, c.n);
  const Matrix<double> centroids = centroids_after_steps(ctx, x.block(0, distinct), moments, unit, c.k);

  State state(ctx, c.n, moments, unit, centroids.cview());
  KMeansMeasured found;
  found.what = c;
  AssignStats stats;
  const auto pass = [&](State& to, bool settled = false) {
    stats = to.clusters.assign(x, Scores::float32, to.labels.view(), {}, Clusters::Sums::move, {}, settled);
    (void)to.clusters.inertia_terms();  // as means, which would move centroids, it takes all sums once
  };
  const auto timed = [&](State& to, bool settled = false) {
    cuda::Event start(ctx.stream), end(ctx.stream);
    start.record(ctx.stream);
    pass(to, settled);
    end.record(ctx.stream);
    return end.seconds_since(start);
  };
  pass(state);
  State again(ctx, c.n, moments, unit, centroids.cview());
  found.first = timed(again);
  pass(state, true);  // compiles its kernels
  std::vector<double> times(static_cast<std::size_t>(repetitions));
  for (double& seconds : times) seconds = timed(state, true);
  found.pass = timing_of(std::move(times));
  found.same_bits = again.labels.to_host() == state.labels.to_host();
  const ClusterSums sums = state.clusters.sums(), sums_again = again.clusters.sums();
  for (index_t m = 0; m < c.k; ++m)
    for (index_t j = 0; j < c.d && !sums.weightless(m); ++j)
      found.same_bits = found.same_bits && sums_again.mean(unit, m, j) == sums.mean(unit, m, j);
  const index_t checked = std::min(c.n, most_checked);
  found.wrong = count_misassigned(ctx, x.block(0, checked), centroids.cview(), state.labels.view().part(0, checked));
  found.rescored = static_cast<double>(stats.rescored) / static_cast<double>(c.n);
  const auto n = static_cast<double>(c.n), d = static_cast<double>(c.d);
  found.bytes = n * (d * static_cast<double>(sizeof(T)) + 4);
  found.flops = 2 * n * d * static_cast<double>(c.k);
  return found;
}

constexpr const char* usual_shapes =
    "67108864x4x16,67108864x8x16,33554432x16x16,33554432x16x64,16777216x32x32,8388608x64x64,4194304x128x100,"
    "16777216x32x256,8388608x64x1024,4194304x128x1000,2097152x128x8192,1048576x512x1000,1048576x768x4096";

struct KMeansRequest {
  std::string shapes = usual_shapes, types = "float32,float16", data = "normal,blobs", json_file;
  int repetitions = 7;
};

bool parse_request(KMeansRequest& request, app::Arguments arguments) {
  app::Options options(
      {"tsbench kmeans",
       "Measures passes of k-means on the GPU: nearest centroids and cluster sums together.",
       "[options]",
       {{"the usual shapes", "tsbench kmeans --json kmeans.json"},
        {"one of your own", "tsbench kmeans --shapes 10000000x20x50 --types float64"}},
       "Each pass, and what makes means of its sums, is timed from call to return when no label changes (ms), as "
       "iterations are that expect so: labels are confirmed, where there is a kernel for that, and found only where "
       "they could not be; and when all rows come from nowhere, so that all are found (first). limit is the largest of "
       "all bytes (rows and labels) at the read rate, all products at the rate of 16-bit tensor instructions, and "
       "keeping the two least of all scores (least; passes that confirm labels need not) at the rate of minima, all "
       "measured now; times how often it was taken; rescored the share of the rows that the first scores did not "
       "decide, or confirm; wrong the labels of some thousand rows that are not the nearest by float64 distances, of "
       "which there may be none. Exit code 1 when there are, or when bits of a second run differed."});
  options.value("shapes", "LIST", request.shapes, "rows x columns x centroids, comma-separated")
      .value("types", "LIST", request.types, "element types, comma-separated")
      .value("data", "LIST", request.data, "normal: no clusters; blobs: as many as centroids")
      .value("repetitions", "N", request.repetitions, "timed passes", app::between(1, 1000))
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", request.json_file}});
  return true;
}

std::vector<KMeansCase> cases_of(const KMeansRequest& request) {
  std::vector<KMeansCase> cases;
  for (const std::string& shape : split_list(request.shapes)) {
    KMeansCase c;
    index_t* const parts[] = {&c.n, &c.d, &c.k};
    std::string_view text = shape;
    for (std::size_t p = 0; p < 3; ++p) {
      const auto end = p < 2 ? text.find('x') : text.size();
      if (end == std::string_view::npos || !app::parse_value(text.substr(0, end), *parts[p]) || *parts[p] < 1)
        throw Error(Errc::invalid_argument, "--shapes: expected ROWSxCOLUMNSxCENTROIDS instead of " + shape);
      if (p < 2) text.remove_prefix(end + 1);
    }
    expects(c.k <= c.n, "--shapes: there are more centroids than rows");
    for (const std::string& type : split_list(request.types))
      for (const std::string& data : split_list(request.data)) {
        expects(data == "normal" || data == "blobs", "--data: expected normal, blobs or both");
        c.type = parse_dtype(type), c.clustered = data == "blobs";
        if (c.type == DType::complex128 || c.type == DType::complex64)
          throw Error(Errc::invalid_argument, "points have real coordinates: " + type);
        cases.push_back(c);
      }
  }
  return cases;
}

void print(const KMeansMeasured& m, const KMeansMeasured::Limit& limit) {
  const KMeansCase& c = m.what;
  std::cout << format("%10lld %5lld %6lld  %-9s %-7s %9.3f %9.3f %-8s %6.2f %9.2f %9.4f %6lld  %s\n",
                      static_cast<long long>(c.n), static_cast<long long>(c.d), static_cast<long long>(c.k),
                      std::string(name_of(c.type)).c_str(), c.clustered ? "blobs" : "normal", m.pass.median * 1e3,
                      limit.seconds * 1e3, limit.by, m.pass.median / limit.seconds, m.first * 1e3, 100 * m.rescored,
                      static_cast<long long>(m.wrong), m.same_bits ? "same" : "DIFFER")
            << std::flush;
}

app::JsonObject json_of(const KMeansMeasured& m, const KMeansMeasured::Limit& limit) {
  const KMeansCase& c = m.what;
  app::JsonObject json;
  json.add("rows", c.n).add("columns", c.d).add("centroids", c.k).add("type", name_of(c.type));
  json.add("data", c.clustered ? "blobs" : "normal").add("seconds", m.pass.median).add("best_seconds", m.pass.best);
  json.add("first_seconds", m.first).add("limit_seconds", limit.seconds).add("limit_by", limit.by);
  json.add("bytes", m.bytes).add("flops", m.flops);
  json.add("rescored_share", m.rescored).add("wrong", m.wrong).add("same_bits", m.same_bits);
  return json;
}

}  // namespace

int kmeans_command(app::Arguments arguments) {
  constexpr std::size_t roof_bytes = std::size_t{2} << 30;
  KMeansRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const std::vector<KMeansCase> cases = cases_of(request);
  Context ctx;
  ctx.stream = cuda::Stream(0);
  cuda::prepare(ctx, app::roof_plans(ctx.stream.device()));
  const cuda::DeviceInfo roofs = [&] {
    const cuda::Memory source(ctx.stream, roof_bytes), target(ctx.stream, roof_bytes);
    cuda::fill_bytes(ctx.stream, source.data(), 0x3c, roof_bytes);
    return app::measure_gpu_roofs(ctx, source, target);
  }();
  ResultsFile results(request.json_file);
  results.set_header(json_of_gpu_run(roofs, static_cast<std::int64_t>(roof_bytes)));
  print_gpu_roofs(std::cout, roofs);
  std::cout << "      rows  cols  centr.  type      data           ms     limit by        times  first ms "
               "rescored%  wrong  bits\n";
  bool right = true;
  for (const KMeansCase& c : cases) {
    if (app::stop_requested()) break;
    const KMeansMeasured m =
        by_real_type(c.type, [&]<class T>(std::type_identity<T>) { return measure<T>(ctx, c, request.repetitions); });
    print(m, m.limit(roofs));
    results.add(json_of(m, m.limit(roofs)));
    right = right && m.wrong == 0 && m.same_bits;
  }
  results.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
