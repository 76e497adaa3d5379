#include "tallskinny/gemm/random/fill_random.hpp"

#include <complex>

#include "tallskinny/gemm/backend/cuda/launch.hpp"
#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/gemm/core/near_normal.hpp"
#include "tallskinny/gemm/random/cuda/random_kernel.hpp"

namespace ts {

namespace {

/// X as real numbers.
struct Lines {
  double* data;
  index_t count, width, ld;
  [[nodiscard]] Cost cost() const noexcept {
    return {0, static_cast<double>(count * width) * sizeof(double), 0};
  }
};
template <class T, Space S>
Lines lines_of(MatrixView<T, S> x) noexcept {
  constexpr index_t parts = is_complex<T> ? 2 : 1;
  return {reinterpret_cast<double*>(x.data()), x.rows(), parts * x.cols(), parts * x.ld()};
}

constexpr const char* work = "random blocks";

}  // namespace

template <class T>
void fill_random(const Context& ctx, const Philox& random, HostView<T> x) {
  const Lines lines = lines_of(x);
  const Profile::Piece piece(ctx, work, lines.cost(), std::nullopt);
#pragma omp parallel for num_threads(ctx.thread_count()) schedule(static)
  for (index_t i = 0; i < lines.count; ++i)
    for (index_t j = 0; j < lines.width; ++j)
      lines.data[i * lines.ld + j] =
          near_normal(random, static_cast<std::uint64_t>(i) << 16 | static_cast<std::uint64_t>(j));
}

template <class T>
void fill_random(const Context& ctx, const Philox& random, DeviceView<T> x) {
  const Lines lines = lines_of(x);
  expects(lines.width <= 1 << 16, "fill_random: a block has more than 2^16 real columns");
  if (x.empty()) return;
  const Profile::Piece piece(ctx, work, lines.cost(), DType::float64, Space::device);
  const DeviceView<double> real =
      DeviceView<double>::unchecked(lines.data, lines.count, lines.width, lines.ld);
  const cuda::KernelPlan plan = cuda::plan_random_fill(cuda::form_of(DeviceStrided<double>(real)),
                                                       lines.count, lines.width, ctx.stream.device());
  cuda::launch(ctx, plan, lines.data, lines.count, static_cast<int>(lines.width), lines.ld, random.stream,
               random.key);
}

#define TS_INSTANTIATE(T)                                                   \
  template void fill_random<T>(const Context&, const Philox&, HostView<T>); \
  template void fill_random<T>(const Context&, const Philox&, DeviceView<T>);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts
