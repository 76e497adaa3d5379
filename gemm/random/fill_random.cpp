#include "tallskinny/gemm/random/fill_random.hpp"

#include <complex>

#include "tallskinny/gemm/core/philox.hpp"
#include "tallskinny/gemm/random/plan.hpp"
#include "tallskinny/gemm/random/policy.hpp"
#include "tallskinny/gemm/runtime/launch.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

constexpr const char* work = "random blocks";

template <class R, Space S>
Cost cost_of(MatrixView<R, S> x) {
  return {0, static_cast<double>(x.rows() * x.cols()) * sizeof(R), 0};
}

}  // namespace

template <class T>
void fill_random(const Context& ctx, const Philox& random, HostView<T> x, index_t first_row) {
  const auto real = as_reals(x);
  const Profile::Piece piece(ctx, work, cost_of(real), std::nullopt);
  parallel_for(ctx.thread_count(), real.rows(), [&](index_t i) {
    for (index_t j = 0; j < real.cols(); ++j)
      real(i, j) = static_cast<real_t<T>>(
          near_normal(random, static_cast<std::uint64_t>(first_row + i) << 16 | static_cast<std::uint64_t>(j)));
  });
}

template <class T>
void fill_random(const Context& ctx, const Philox& random, DeviceView<T> x, index_t first_row) {
  using R = real_t<T>;
  const auto real = as_reals(x);
  expects(real.cols() <= 1 << 16, "fill_random: a block has more than 2^16 real columns");
  if (x.empty()) return;
  const Profile::Piece piece(ctx, work, cost_of(real), dtype_of<R>, Space::device);
  const cuda::KernelPlan plan = cuda::plan_random_fill(dtype_of<R>, cuda::form_of(DeviceStrided<R>(real)), real.rows(),
                                                       real.cols(), ctx.stream.device());
  cuda::launch_with<cuda::RandomFillPolicy>(
      ctx, plan,
      {real.data(), real.rows(), static_cast<int>(real.cols()), real.ld(), first_row, random.stream, random.key});
}

#define TS_INSTANTIATE(T)                                                            \
  template void fill_random<T>(const Context&, const Philox&, HostView<T>, index_t); \
  template void fill_random<T>(const Context&, const Philox&, DeviceView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0
