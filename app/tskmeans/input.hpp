// Input of tskmeans: points, weights, centres.
#pragma once

#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/app/tskmeans/report.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/solvers/kmeans/pass/rows/rows.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::tskmeans {

/// The real points in a matrix file. @throws Error(bad_input) for complex ones, none, or none with features.
[[nodiscard]] Rows rows_of(const io::MatrixFile& file);

/// @throws Error(bad_input) unless these are real points, at least one, with at least one feature.
void expect_points(const io::Description& points);

/// The points of a file that io::RowReader reads, but not complex ones, for passes in blocks.
[[nodiscard]] solvers::RowOrigin origin_of(const io::Location& where, const io::ReadOptions& read);

/// One weight for each of the `rows` points here. @throws Error(bad_input) for another number of all, negative ones,
/// all 0.
[[nodiscard]] std::vector<double> read_weights(const Context& ctx, const std::string& file, index_t rows,
                                               const io::ReadOptions& read);

/// Agreement of the labels of all ranks with those that the file holds, in a column of csv, or beside its matrix.
/// @param read of this rank
[[nodiscard]] Outcome::Known compare_with_known(const Context& ctx, const io::Description& points,
                                                const std::optional<io::Location>& beside, const io::ReadOptions& read,
                                                const solvers::KMeansResult& found);

/// Takes the metric for --predict from the file of the centres, where it names one.
/// @throws Error(invalid_argument) if --metric says another, Error(bad_input) for one that is not known.
void take_metric_of_model(ProgramOptions& options);

/// Centres with `cols` coordinates: the object named, or `cluster_centers` of a result of this program, or
/// the only matrix of the file. @throws Error(bad_input).
[[nodiscard]] Matrix<double> read_centers(const std::string& file, index_t cols, const io::ReadOptions& read);

}  // namespace ts::tskmeans
