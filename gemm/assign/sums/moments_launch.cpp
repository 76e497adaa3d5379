#include <limits>

#include "tallskinny/gemm/assign/rows/launch.hpp"
#include "tallskinny/gemm/assign/rows/plan.hpp"
#include "tallskinny/gemm/assign/rows/upload.hpp"
#include "tallskinny/gemm/assign/sums/launch.hpp"
#include "tallskinny/gemm/assign/sums/policy.hpp"

namespace ts::inline v0::assign_device {

namespace {

using assign_detail::chunk_count;

using cuda::MomentsRound;

void launch_moments(const Context& ctx, const Rows& x, MomentsRound round, const double* shift, const double* mean,
                    double* out, cuda::word64* first) {
  const index_t d = x.cols();
  cuda::launch_with<cuda::MomentsPolicy>(
      ctx, cuda::threads_plan("assign_moments", cuda::MomentsPolicy{x.type(), round}, chunk_count(x.rows()) * d),
      {argument_of(x), static_cast<int>(d), chunk_rows, shift, mean, out, first});
}

void fetch_matrix(const Context& ctx, Matrix<double>& to, const double* from) {
  fetch_numbers(ctx, std::span(to.data(), static_cast<std::size_t>(to.rows() * to.cols())), from);
}

}  // namespace

Matrix<double> chunk_sums(const Context& ctx, const Rows& x) {
  Matrix<double> sums(chunk_count(x.rows()), x.cols());
  if (x.rows() == 0 || x.cols() == 0) return sums;
  Workspace w;
  const std::size_t out = w.reserve<double>(sums.rows() * sums.cols());
  w.get(ctx.stream);
  launch_moments(ctx, x, MomentsRound::sum, nullptr, nullptr, w.at<double>(out), nullptr);
  fetch_matrix(ctx, sums, w.at<double>(out));
  return sums;
}

ChunkSpread chunk_spread(const Context& ctx, const Rows& x, const ColumnMoments& moments) {
  const index_t chunks = chunk_count(x.rows()), d = x.cols();
  ChunkSpread spread{Matrix<double>(chunks, d), Matrix<double>(chunks, d)};
  if (x.rows() == 0 || d == 0) return spread;
  Upload upload(ctx, 2 * d);
  upload.add(moments.shift);
  upload.add(moments.mean);
  Workspace w;
  const std::size_t sent = w.reserve<double>(upload.size()), out = w.reserve<double>(2 * chunks * d);
  w.get(ctx.stream);
  upload.send(w.at<double>(sent));
  launch_moments(ctx, x, MomentsRound::spread, w.at<double>(sent), w.at<double>(sent) + d, w.at<double>(out), nullptr);
  fetch_matrix(ctx, spread.reach, w.at<double>(out));
  fetch_matrix(ctx, spread.squares, w.at<double>(out) + chunks * d);
  return spread;
}

std::pair<index_t, index_t> first_not_finite(const Context& ctx, const Rows& x) {
  if (x.rows() == 0 || x.cols() == 0) return {-1, -1};
  Workspace w;
  const std::size_t at = w.reserve<std::uint64_t>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(at), 0xff, sizeof(std::uint64_t));
  launch_moments(ctx, x, MomentsRound::first_not_finite, nullptr, nullptr, nullptr, w.at<cuda::word64>(at));
  const auto first = fetch_number(ctx, w.at<std::uint64_t>(at));
  if (first == std::numeric_limits<std::uint64_t>::max()) return {-1, -1};
  return {static_cast<index_t>(first) / x.cols(), static_cast<index_t>(first) % x.cols()};
}

}  // namespace ts::inline v0::assign_device
