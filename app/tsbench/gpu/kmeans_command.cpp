#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/gpu_roofs.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/gpu/kmeans_measure.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/words.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/launch.hpp"

namespace ts::bench {

namespace {

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
       "Each pass, and what makes means of its sums, is timed from call to return when no label changes "
       "(ms), as iterations are that expect "
       "so: labels are confirmed, where there is a kernel for that, and found only where they could not be; "
       "and when all rows come from nowhere, so that all are found (first). limit is the largest of all "
       "bytes (rows and labels) at the read rate, all products at the rate of 16-bit tensor instructions, "
       "and keeping the two least of all scores (least; passes that confirm labels need not) at the rate of "
       "minima, all measured now; times how often it was taken; rescored the share of the rows that the "
       "first scores did not decide, or confirm; wrong the labels of some thousand rows that are not the "
       "nearest by float64 distances, of which there may be none. Exit code 1 when there are, or when bits "
       "of a second run differed."});
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
  json.add("first_seconds", m.first)
      .add("limit_seconds", limit.seconds)
      .add("limit_by", limit.by)
      .add("bytes", m.bytes)
      .add("flops", m.flops);
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
    const KMeansMeasured m = measure_kmeans(ctx, c, request.repetitions);
    print(m, m.limit(roofs));
    results.add(json_of(m, m.limit(roofs)));
    right = right && m.wrong == 0 && m.same_bits;
  }
  results.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
