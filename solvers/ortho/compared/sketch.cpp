#include "tallskinny/solvers/ortho/compared/sketch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tallskinny/gemm/runtime/parallel.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho {

namespace {
constexpr index_t copies = 8;
}  // namespace

index_t sketch_rows(index_t b) noexcept { return (4 * b + 32 + copies - 1) / copies * copies; }

template <class T>
Matrix<T> sketch(const Context& ctx, std::uint64_t seed, index_t rows, HostView<const T> x) {
  const index_t n = x.rows(), b = x.cols(), part = rows / copies;
  auto y = Matrix<T>::zeros(rows, b);
  if (n <= rows) {
    copy<T>(x, y.view().rows(0, n));
    return y;
  }
  expects(rows % copies == 0 && part <= 0x8000, "a sketch needs a multiple of 8 rows, at most 262144");
  const solvers::Random random(seed);
  const auto scale = static_cast<real_t<T>>(1 / std::sqrt(static_cast<double>(copies)));
  const index_t groups = std::min<index_t>(16, (n + 4095) / 4096);
  std::vector<Matrix<T>> partial(at(groups));
  parallel_pieces(ctx.thread_count(), groups, [&](index_t g, int) {
    auto& sum = partial[at(g)];
    sum = Matrix<T>::zeros(rows, b);
    for (index_t i = n * g / groups; i < n * (g + 1) / groups; ++i) {
      const auto words = random.block(static_cast<std::uint64_t>(i));
      for (index_t c = 0; c < copies; ++c) {  // 16 bits each: 15 choose the row, one the sign
        const std::uint32_t bits = words[at(c / 2)] >> (16 * (c % 2)) & 0xffffu;
        const index_t row = c * part + ((static_cast<index_t>(bits >> 1) * part) >> 15);
        const real_t<T> sign = (bits & 1u) != 0 ? -scale : scale;
        for (index_t j = 0; j < b; ++j) sum(row, j) += sign * x(i, j);
      }
    }
  });
  for (const auto& sum : partial) add<T>(y.view(), sum.view());
  return y;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, sketch)

}  // namespace ts::inline v0::ortho
