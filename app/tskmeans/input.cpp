#include "tallskinny/app/tskmeans/input.hpp"

#include <algorithm>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::tskmeans {

Rows rows_of(const io::MatrixFile& file) {
  const std::string where = file.description.where.text();
  Rows rows = std::visit(
      [&](const auto& kind) {
        return std::visit(
            [&](const auto& matrix) -> Rows {
              if constexpr (is_complex<typename std::decay_t<decltype(matrix)>::value_type>)
                throw Error(Errc::bad_input, where + ": the features are complex; k-means needs real ones");
              else
                return Rows(matrix.view());
            },
            kind);
      },
      file.matrix);
  if (rows.rows() == 0) throw Error(Errc::bad_input, where + ": there are no points to cluster");
  if (rows.cols() == 0) throw Error(Errc::bad_input, where + ": the points have no features (columns)");
  return rows;
}

namespace {

template <class T>
Rows send(const cuda::Stream& stream, cuda::Memory& memory, const Rows& points) {
  const index_t n = points.rows(), d = points.cols();
  memory = cuda::Memory(stream, static_cast<std::size_t>(n * d) * sizeof(T));
  const auto there = [&]<Layout L>(HostView<const T, L> here) {
    const auto view =
        DeviceView<T, L>::unchecked(static_cast<T*>(memory.data()), n, d, L == Layout::row_major ? d : n);
    copy(stream, view, here);
    stream.synchronize();
    return Rows(stream, view);
  };
  const auto* const data = static_cast<const T*>(points.values());
  if (points.col_stride() == 1) return there(HostView<const T>(data, n, d, points.row_stride()));
  return there(HostView<const T, Layout::col_major>(data, n, d, points.col_stride()));
}

Rows send(const cuda::Stream& stream, cuda::Memory& memory, const Rows& points) {
  expects(!points.sparse(), "sparse points are clustered on the processor only: use --device cpu");
  switch (points.type()) {
    case DType::float32:
      return send<float>(stream, memory, points);
    case DType::float16:
      return send<float16>(stream, memory, points);
    case DType::bfloat16:
      return send<bfloat16>(stream, memory, points);
    default:
      return send<double>(stream, memory, points);
  }
}

}  // namespace

DevicePoints::DevicePoints(const cuda::Stream& stream, const Rows& points)
    : rows_(send(stream, memory_, points)) {}

std::vector<double> read_weights(const std::string& file, index_t rows) {
  std::vector<double> weights = io::read_vector(io::parse_location(file));
  if (std::ssize(weights) != rows)
    throw Error(Errc::bad_input, file + ": there are " + std::to_string(weights.size()) + " weights for " +
                                     std::to_string(rows) + " points");
  const auto negative = std::find_if(weights.begin(), weights.end(), [](double w) { return w < 0; });
  if (negative != weights.end())
    throw Error(Errc::bad_input, file + ": the weight of point " +
                                     std::to_string(negative - weights.begin()) +
                                     " (counted from 0) is negative");
  if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; }))
    throw Error(Errc::bad_input, file + ": all weights are zero");
  return weights;
}

Matrix<double> read_centers(const std::string& file, index_t cols) {
  io::Location where = io::parse_location(file);
  if (where.object.empty())
    for (const io::Description& found : io::list_objects(where.file))
      if (found.where.object == "/cluster_centers" || found.where.object == "cluster_centers")
        where = found.where;
  Matrix<double> centers = io::read_dense_as<double>(where);
  if (centers.cols() != cols)
    throw Error(Errc::bad_input, where.text() + ": the centres have " + std::to_string(centers.cols()) +
                                     " features but the points have " + std::to_string(cols));
  if (centers.rows() == 0) throw Error(Errc::bad_input, where.text() + ": there are no centres");
  return centers;
}

}  // namespace ts::tskmeans
