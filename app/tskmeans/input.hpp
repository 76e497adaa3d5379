// What tskmeans reads: points, weights, centres.
#pragma once

#include <vector>

#include "tallskinny/app/tskmeans/options.hpp"
#include "tallskinny/gemm/assign/rows.hpp"
#include "tallskinny/gemm/backend/cuda/device_matrix.hpp"

namespace ts::tskmeans {

/// The real points in a matrix file. @throws Error(bad_input) for complex ones, none, or none with features.
[[nodiscard]] Rows rows_of(const io::MatrixFile& file);

/// The points of a file on a stream's device, which keeps them while this lives.
class DevicePoints {
 public:
  /// @throws Error(invalid_argument) for sparse points, Error(out_of_memory).
  DevicePoints(const cuda::Stream& stream, const Rows& points);
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }

 private:
  cuda::Memory memory_;
  Rows rows_;
};

/// One weight for each of `rows` points. @throws Error(bad_input) for another number, negative ones, all 0.
[[nodiscard]] std::vector<double> read_weights(const std::string& file, index_t rows);

/// Centres with `cols` coordinates: the object named, or `cluster_centers` of a result of this program, or
/// the only matrix of the file. @throws Error(bad_input).
[[nodiscard]] Matrix<double> read_centers(const std::string& file, index_t cols);

}  // namespace ts::tskmeans
