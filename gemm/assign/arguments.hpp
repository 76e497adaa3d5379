// The host's side of what kernels/assign_*.cuh declare, and device memory cut into parts.
#pragma once

#include <algorithm>
#include <span>

#include "tallskinny/gemm/assign/launch.hpp"
#include "tallskinny/gemm/assign/rows.hpp"
#include "tallskinny/gemm/assign/sums/cluster_sums.hpp"
#include "tallskinny/gemm/cpu/rows.hpp"
#include "tallskinny/gemm/device/geometry.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/gpu/staging.hpp"

namespace ts::assign_device {

struct RowsArgument {
  const void* data;
  index_t count, row_stride, column_stride;
  const double* scale;

  explicit RowsArgument(const Rows& x)
      : data(x.values()),
        count(x.rows()),
        row_stride(x.row_stride()),
        column_stride(x.col_stride()),
        scale(x.scales()) {}
};

struct CentroidsArgument {
  const double *rows, *columns;
  const float* half_norms;
  std::int32_t count, padded, cols;
  double shrink, factor;
};

/// assign/scores/kernels/assign_bounds.cuh
struct RoomArgument {
  float distance = 0, offset = 0, unit = 0;
};

struct PairsArgument {
  std::int32_t* of_row = nullptr;
  std::uint32_t* marks = nullptr;
};

struct MovesArgument {
  std::int32_t *rows = nullptr, *before = nullptr;
  std::uint64_t* count = nullptr;
};

struct SumsArgument {
  std::uint64_t *upper = nullptr, *lower = nullptr;
  std::uint64_t *weight_upper = nullptr, *weight_lower = nullptr, *counts = nullptr;
  const double *to_units = nullptr, *shift = nullptr, *weights = nullptr;
  double one = 0, weight_to_units = 0;
  MovesArgument moves;
};

/// Words of the sums of k clusters (ClusterSums::add_words).
[[nodiscard]] constexpr index_t sum_words(index_t k, index_t d) noexcept {
  return 2 * k * d + 3 * k;
}
/// The argument for sums in such words, or for none (null), of clusters with these centroids.
[[nodiscard]] inline SumsArgument sums_argument(std::uint64_t* words, const PlacedCentroids& of, index_t d,
                                                const FixedPoint* unit, const double* weights) noexcept {
  SumsArgument a;
  a.to_units = of.to_units, a.shift = of.shift, a.weights = weights;
  if (words == nullptr) return a;
  a.upper = words, a.lower = a.upper + of.count * d;
  a.weight_upper = a.lower + of.count * d, a.weight_lower = a.weight_upper + of.count;
  a.counts = a.weight_lower + of.count;
  a.one = unit->one, a.weight_to_units = unit->weight_to_units;
  return a;
}
/// Waits for the stream, and adds such words to sums in host memory.
inline void add_fetched(const Context& ctx, const std::uint64_t* words, ClusterSums& sums) {
  const auto count = static_cast<std::size_t>(sum_words(sums.clusters(), sums.cols()));
  const std::size_t bytes = count * sizeof(std::uint64_t);
  cuda::Staging& staging = ctx.stream.staging();
  staging.begin(ctx.stream, cuda::Staging::rounded(bytes));
  const cuda::Staging::Stretch found = staging.take(bytes);
  cuda::copy_bytes(ctx.stream, found.host, words, bytes);
  ctx.stream.synchronize();
  sums.add_words({static_cast<const std::uint64_t*>(found.host), count}, ctx.thread_count());
}

/// assign/sums/kernels/assign_means.cuh
struct FixedSumsArgument {
  const std::uint64_t *upper, *lower, *weight_upper, *weight_lower;
  const double *from_units, *shift;
  double inverse;
};

/// Parts of the stream's workspace, one after the other: first all sizes, then the memory.
class Workspace {
 public:
  /// Where the next part of `count` numbers begins, as an offset.
  template <class T>
  std::size_t reserve(index_t count) {
    const std::size_t at = bytes_;
    bytes_ = (bytes_ + static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  void get(const cuda::Stream& stream) { memory_ = static_cast<char*>(stream.workspace(bytes_)); }
  template <class T>
  [[nodiscard]] T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(memory_ + offset);
  }

 private:
  std::size_t bytes_ = 0;
  char* memory_ = nullptr;
};

/// A small matrix in blocks of rows that a cache next to a processor holds.
struct SmallBlocks {
  index_t rows, count;

  explicit SmallBlocks(HostView<const double> m)
      : rows(std::max<index_t>(1, (index_t{1} << 13) / std::max<index_t>(1, m.cols()))),
        count(m.empty() ? 0 : cuda::ceil_div(m.rows(), rows)) {}
};

/// Calls work(number of the block, block) for each. A pass waits for the slowest thread, which on a shared
/// machine may be milliseconds late: so each is only woken for some of them.
template <class Work>
void for_blocks(const Context& ctx, HostView<const double> m, const Work& work) {
  constexpr index_t blocks_of_a_thread = 4;
  const SmallBlocks blocks(m);
  const auto threads =
      static_cast<int>(std::clamp<index_t>(blocks.count / blocks_of_a_thread, 1, ctx.thread_count()));
  parallel_pieces(threads, blocks.count, [&](index_t b, int) {
    work(b, m.rows(b * blocks.rows, std::min(blocks.rows, m.rows() - b * blocks.rows)));
  });
}

/// Numbers that are sent to the device in one copy, from page-locked memory of the stream: to anywhere, or to
/// the memory beside that, where they stay until the stream stages something else.
class Parcel {
 public:
  Parcel(const Context& ctx, index_t numbers) : ctx_(ctx) {
    const std::size_t bytes = static_cast<std::size_t>(numbers) * sizeof(double);
    cuda::Staging& staging = ctx.stream.staging();
    staging.begin(ctx.stream, cuda::Staging::rounded(bytes));
    const cuda::Staging::Stretch stretch = staging.take(bytes);
    numbers_ = {static_cast<double*>(stretch.host), static_cast<std::size_t>(numbers)};
    there_ = static_cast<double*>(stretch.device);
  }
  void add(HostView<const double> m) {
    add(m, [](index_t, HostView<const double>) {});
  }
  /// look(number of the block, block) sees the blocks of for_blocks while they are at hand.
  template <class Look>
  void add(HostView<const double> m, const Look& look) {
    double* const to = take(m.rows() * m.cols()).data();
    const index_t rows = SmallBlocks(m).rows;
    for_blocks(ctx_, m, [&](index_t b, HostView<const double> block) {
      for (index_t i = 0; i < block.rows(); ++i)
        std::copy_n(block.data() + i * block.ld(), block.cols(), to + (b * rows + i) * m.cols());
      look(b, block);
    });
  }
  void add(std::span<const double> v) {
    std::copy(v.begin(), v.end(), take(static_cast<index_t>(v.size())).begin());
  }
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// Where the numbers added next will be after send().
  [[nodiscard]] double* next() const noexcept { return there_ + size_; }
  void send() const { send(there_); }
  void send(double* to) const {
    cuda::copy_bytes(ctx_.stream, to, numbers_.data(), static_cast<std::size_t>(size_) * sizeof(double));
  }

 private:
  std::span<double> take(index_t count) {
    expects(size_ + count <= static_cast<index_t>(numbers_.size()),
            "a parcel has less room than it is given");
    size_ += count;
    return numbers_.subspan(static_cast<std::size_t>(size_ - count), static_cast<std::size_t>(count));
  }

  const Context& ctx_;
  std::span<double> numbers_;
  double* there_;
  index_t size_ = 0;
};

}  // namespace ts::assign_device
