#include "tallskinny/app/tskmeans/input.hpp"

#include <algorithm>

#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/labelled_table.hpp"
#include "tallskinny/io/printable.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/agreed.hpp"
#include "tallskinny/solvers/kmeans/measures.hpp"

namespace ts::tskmeans {

void expect_points(const io::Description& points) {
  const std::string where = points.where.text();
  const auto refuse_if = [&where](bool condition, const char* what) {
    if (condition) throw Error(Errc::bad_input, where + ": " + what);
  };
  refuse_if(points.type == DType::complex64 || points.type == DType::complex128,
            "the features are complex; k-means needs real ones");
  refuse_if(points.rows == 0, "there are no points to cluster");
  refuse_if(points.cols == 0, "the points have no features (columns)");
}

Rows rows_of(const io::MatrixFile& file) {
  Rows rows = std::visit(
      [&](const auto& kind) {
        return std::visit(
            [&](const auto& matrix) -> Rows {
              if constexpr (is_complex<typename std::decay_t<decltype(matrix)>::value_type>)
                return Rows(HostView<const double>());
              else
                return Rows(matrix.view());
            },
            kind);
      },
      file.matrix);
  io::Description as_read = file.description;
  as_read.rows = rows.rows();
  expect_points(as_read);
  return rows;
}

solvers::RowOrigin origin_of(const io::Location& where, const io::ReadOptions& read) {
  auto reader = std::make_shared<const io::RowReader>(where, read);
  expect_points(reader->description());
  return app::row_origin(reader, read);
}

std::vector<double> read_weights(const Context& ctx, const std::string& file, index_t rows,
                                 const io::ReadOptions& read) {
  const index_t first = first_row(ctx), all = all_rows(ctx, rows);
  std::vector<double> weights;
  solvers::agreed(ctx, [&] {
    io::VectorPart part = io::read_vector_part(io::parse_location(file), first, first + rows, read);
    weights = std::move(part.values);
    if (part.size != all)
      throw Error(Errc::bad_input, file + ": there are " + std::to_string(part.size) + " weights for " +
                                       std::to_string(all) + " points");
    const auto negative = std::find_if(weights.begin(), weights.end(), [](double w) { return w < 0; });
    if (negative != weights.end())
      throw Error(Errc::bad_input, file + ": the weight of point " +
                                       std::to_string(first + (negative - weights.begin())) +
                                       " (counted from 0) is negative");
  });
  if (!any_rank(ctx, std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0; })))
    throw Error(Errc::bad_input, file + ": all weights are zero");
  return weights;
}

Outcome::Known compare_with_known(const Context& ctx, const io::Description& points,
                                  const std::optional<io::Location>& beside, const io::ReadOptions& read,
                                  const solvers::KMeansResult& found) {
  const io::Location& where = points.where;
  io::NumberedLabels known;
  solvers::agreed(ctx, [&] {
    known = beside ? io::read_labels_beside(*beside, points, read) : io::read_csv_labels(where, read);
    if (known.numbers.size() != found.labels.size())
      throw Error(Errc::bad_input, (beside ? *beside : where).text() + ": there are " +
                                       std::to_string(known.numbers.size()) + " labels for " +
                                       std::to_string(found.labels.size()) + " points");
  });
  const index_t clusters = std::ssize(found.sizes), labels = std::ssize(known.names);
  constexpr index_t most = index_t{1} << 26;
  if (clusters * labels > most)
    throw Error(Errc::bad_input, where.text() + " has " + std::to_string(labels) +
                                     " different words in its column of labels, too many to compare with " +
                                     std::to_string(clusters) + " clusters: --drop leaves the column out");
  return {labels, solvers::adjusted_rand_index(ctx, found.labels, known.numbers, clusters, labels)};
}

void take_metric_of_model(ProgramOptions& o) {
  if (o.predict.empty()) return;
  const io::Location where = io::parse_location(o.predict);
  const auto word = io::file_attribute(where.file, "metric", o.read.of_another_file());
  if (!word) return;
  const auto metric = metric_of(*word);
  if (!metric)
    throw Error(Errc::bad_input, where.text() + ": its centres were computed with the metric '" + io::printable(*word) +
                                     "', which is unknown");
  if (o.metric_given && o.kmeans.metric != *metric)
    throw Error(Errc::invalid_argument, "--metric " + name_of(o.kmeans.metric) + ": the centres in " + where.text() +
                                            " were computed with --metric " + *word + ": leave the option out");
  o.kmeans.metric = *metric;
}

Matrix<double> read_centers(const std::string& file, index_t cols, const io::ReadOptions& read) {
  const io::ReadOptions whole = read.of_another_file();
  io::Location where = io::parse_location(file);
  if (where.object.empty())
    for (const io::Description& found : io::list_objects(where.file, whole))
      if (found.where.object == "/cluster_centers" || found.where.object == "cluster_centers") where = found.where;
  where = io::describe(where, whole).where;  // with the object that the file chose
  Matrix<double> centers = io::read_dense_as<double>(where, whole);
  if (centers.cols() != cols)
    throw Error(Errc::bad_input, where.text() + ": the centres have " + std::to_string(centers.cols()) +
                                     " features but the points have " + std::to_string(cols));
  if (centers.rows() == 0) throw Error(Errc::bad_input, where.text() + ": there are no centres");
  return centers;
}

}  // namespace ts::tskmeans
