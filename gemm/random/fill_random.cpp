#include "tallskinny/gemm/random/fill_random.hpp"

#include <complex>

#include "tallskinny/gemm/backend/cuda/launch.hpp"
#include "tallskinny/gemm/backend/profile.hpp"
#include "tallskinny/gemm/core/near_normal.hpp"
#include "tallskinny/gemm/random/cuda/random_kernel.hpp"

namespace ts {

namespace {

/// X as real numbers.
template <class R>
struct Lines {
  R* data;
  index_t count, width, ld;
  [[nodiscard]] Cost cost() const noexcept { return {0, static_cast<double>(count * width) * sizeof(R), 0}; }
};
template <class T, Space S>
Lines<real_t<T>> lines_of(MatrixView<T, S> x) noexcept {
  constexpr index_t parts = is_complex<T> ? 2 : 1;
  return {reinterpret_cast<real_t<T>*>(x.data()), x.rows(), parts * x.cols(), parts * x.ld()};
}

constexpr const char* work = "random blocks";

}  // namespace

template <class T>
void fill_random(const Context& ctx, const Philox& random, HostView<T> x) {
  const auto lines = lines_of(x);
  const Profile::Piece piece(ctx, work, lines.cost(), std::nullopt);
#pragma omp parallel for num_threads(ctx.thread_count()) schedule(static)
  for (index_t i = 0; i < lines.count; ++i)
    for (index_t j = 0; j < lines.width; ++j)
      lines.data[i * lines.ld + j] = static_cast<real_t<T>>(
          near_normal(random, static_cast<std::uint64_t>(i) << 16 | static_cast<std::uint64_t>(j)));
}

template <class T>
void fill_random(const Context& ctx, const Philox& random, DeviceView<T> x) {
  using R = real_t<T>;
  const auto lines = lines_of(x);
  expects(lines.width <= 1 << 16, "fill_random: a block has more than 2^16 real columns");
  if (x.empty()) return;
  const Profile::Piece piece(ctx, work, lines.cost(), dtype_of<R>, Space::device);
  const auto real = DeviceView<R>::unchecked(lines.data, lines.count, lines.width, lines.ld);
  const cuda::KernelPlan plan = cuda::plan_random_fill(dtype_of<R>, cuda::form_of(DeviceStrided<R>(real)),
                                                       lines.count, lines.width, ctx.stream.device());
  cuda::launch(ctx, plan, lines.data, lines.count, static_cast<int>(lines.width), lines.ld, random.stream,
               random.key);
}

#define TS_INSTANTIATE(T)                                                   \
  template void fill_random<T>(const Context&, const Philox&, HostView<T>); \
  template void fill_random<T>(const Context&, const Philox&, DeviceView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts
