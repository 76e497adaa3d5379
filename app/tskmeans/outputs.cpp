#include "tallskinny/app/tskmeans/outputs.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/solvers/agreed.hpp"

namespace ts::tskmeans {

namespace {

/// use(centres as elements of `type`).
template <class Use>
void with_centers(const Matrix<double>& centers, DType type, const Use& use) {
  by_real_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, double>) {
      use(centers);
    } else {
      Matrix<T> narrow(centers.rows(), centers.cols());
      std::transform(centers.data(), centers.data() + centers.rows() * centers.cols(), narrow.data(), narrowed<T>);
      use(narrow);
    }
  });
}

std::string write_all(const ProgramOptions& o, const Outcome& out, const Context& ctx, const app::RowsOfRanks& ranks) {
  const solvers::KMeansResult& r = out.found;
  io::OutputFile file(o.common.output);
  write_labels(file, ctx, ranks, r.labels);
  with_centers(r.centers, o.centers_type, [&](const auto& centers) { file.write("cluster_centers", centers); });
  file.write("cluster_sizes", std::span<const std::int64_t>(r.sizes));
  file.write("inertia", r.inertia);
  if (!out.predicted) {
    file.write("n_iter", r.n_iter);
    file.attribute("/", "converged", std::int64_t{r.converged()});
    file.attribute("/", "stop", name_of(r.stop));
    file.attribute("/", "seed", static_cast<std::int64_t>(o.common.seed));
    file.attribute("/", "init", o.init);
  }
  if (out.distances.rows() > 0 && ctx.communicator->size() == 1)
    file.write("distances", out.distances);
  else if (out.distances.rows() > 0)
    app::write_rows<double>(file, "distances", ranks, 1, out.points.rows, out.distances.cols());
  if (out.measures)
    for (const NamedMeasure& each : named(*out.measures)) file.attribute("/", each.key, each.value);
  file.attribute("/", "metric", name_of(o.kmeans.metric));
  file.attribute("/", "source", out.points.where.text());
  file.commit();
  return file.contents();
}

void write_centers_out(const ProgramOptions& o, const Outcome& out) {
  with_centers(out.found.centers, o.centers_type, [&]<class T>(const Matrix<T>& centers) {
    auto file = app::open_table<T>(o.centers_out, centers.rows(), centers.cols(), out.points.column_names);
    file.add({centers.data(), static_cast<std::size_t>(centers.rows() * centers.cols())});
    file.commit();
  });
}

void write_labels_out(const ProgramOptions& o, const Outcome& out, const Context& ctx, const app::RowsOfRanks& ranks) {
  auto file = app::open_table<std::int32_t>(o.labels_out, out.points.rows, -1, {"label"});
  if (ctx.communicator->size() == 1)
    file.add(out.found.labels);
  else
    ranks.each_piece(0, [&file](std::span<const std::byte> bytes) {
      file.add({reinterpret_cast<const std::int32_t*>(bytes.data()), bytes.size() / sizeof(std::int32_t)});
    });
  file.commit();
}

}  // namespace

void round_centers(Matrix<double>& centers, DType type) {
  if (type == DType::float64) return;
  by_real_type(type, [&]<class T>(std::type_identity<T>) {
    for (index_t m = 0; m < centers.rows(); ++m)
      for (index_t j = 0; j < centers.cols(); ++j) {
        const double rounded = to_wide(narrowed<T>(centers(m, j)));
        if (!std::isfinite(rounded))
          throw Error(Errc::invalid_argument, "--centers-type " + std::string(ts::name_of(type)) + ": centre " +
                                                  std::to_string(m) + " (counted from 0) has the coordinate " +
                                                  app::short_number(centers(m, j), 6) +
                                                  ", which is beyond its range: choose a wider type");
        centers(m, j) = rounded;
      }
  });
}

std::vector<std::string> write_files(const ProgramOptions& o, const Outcome& out, const Context& ctx) {
  std::vector<std::string> written;
  const std::vector<app::OwnRows> blocks = {own_labels(out.found.labels), app::own_rows<double>(out.distances.cview())};
  solvers::agreed(ctx, [&] {  // the one that writes may fail, once the others need not send any more
    app::with_rows_of_ranks(ctx, blocks, [&](const app::RowsOfRanks& ranks) {
      if (!o.common.output.empty()) written.push_back(write_all(o, out, ctx, ranks));
      if (!o.centers_out.empty()) write_centers_out(o, out);
      if (!o.labels_out.empty()) write_labels_out(o, out, ctx, ranks);
      for (const auto& [file, what] : {std::pair(o.centers_out, ": the centres"), {o.labels_out, ": the labels"}})
        if (!file.empty() && file != app::standard_stream) written.push_back(file + what);
    });
  });
  return written;
}

}  // namespace ts::tskmeans
