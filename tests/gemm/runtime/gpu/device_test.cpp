// Streams, device memory, copies, graphs and what operations share, on the GPU of this machine.
#include "tallskinny/gemm/copy/copy_rows.hpp"
#include "tallskinny/gemm/device/convert.hpp"
#include "tallskinny/gemm/device/scale.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/gemm/runtime/gpu/graph.hpp"
#include "tallskinny/tests/support/copy_there.hpp"
#include "tallskinny/tests/support/engine.hpp"

TEST_CASE("without a device, what needs one says so") {
  const Context ctx;
  double memory[4] = {};
  const DeviceView<double> x(memory, 2, 2), r(memory, 2, 2);
  (void)message_of(Errc::no_device, [&] { column_norms(ctx, x, r.rows(0, 1)); });
  (void)message_of(Errc::no_device, [] { const cuda::Stream stream(1000); });
}

TEST_CASE("what a device is told to do comes back", "[gpu]") {
  const cuda::Stream& stream = device_stream();
  CHECK(stream.device().multiprocessors > 0);
  CHECK(stream.device().read_bytes_per_second > 1e10);
  Values values(1);
  auto a = Operand<double>::random(100, 7, {Layout::row_major, 3, 1}, values);
  DeviceMatrix<double> there(stream, 100, 7);
  Operand<double> back(100, 7, {Layout::row_major, 1, 3});
  a.with_view([&]<Layout L>(HostView<double, L> v) {
    if constexpr (L == Layout::row_major) copy(stream, there.view(), v);
  });
  back.with_view([&]<Layout L>(HostView<double, L> v) {
    if constexpr (L == Layout::row_major) copy(stream, v, there.cview());
  });
  stream.synchronize();
  CHECK(everywhere(100, 7, [&](index_t i, index_t j) { return back.at(i, j) == a.at(i, j); }));
  CHECK(back.surroundings_untouched());
}

TEST_CASE("more memory than there is, is an error that says how much", "[gpu]") {
  const std::string said =
      message_of(Errc::out_of_memory, [] { const cuda::Memory memory(device_stream(), std::size_t{1} << 50); });
  CHECK(mentions(said, "1125899906842624 bytes"));
}

TEMPLATE_TEST_CASE("convert gives the other layout", "[gpu]", TS_ALL_TYPES) {
  const Context ctx = device_context();
  Values values(3);
  for (const index_t n : {1, 127, 128, 1000})
    for (const index_t p : {1, 3, 16, 17, 40})
      for (const bool from_rows : {false, true}) {
        CAPTURE(n, p, from_rows);
        const Form rows = {Layout::row_major, p % 2 == 0 ? 3 : 0, 1}, columns = {Layout::col_major, 0, n % 3};
        auto from = Operand<TestType>::random(n, p, from_rows ? rows : columns, values);
        Operand<TestType> to(n, p, from_rows ? columns : rows);
        with_views(
            ctx,
            [&]<class A, class B>(A a, B b) {
              if constexpr (A::space == Space::device && B::space == Space::device && A::layout != B::layout)
                convert(ctx, a, b);
            },
            from, to);
        CHECK(everywhere(n, p, [&](index_t i, index_t j) {
          return std::memcmp(&from.at(i, j), &to.at(i, j), sizeof(TestType)) == 0;
        }));
        CHECK(to.surroundings_untouched());
      }
}

namespace {

/// Copies from rows with `from_gap` to rows with `to_gap` elements between them.
template <class To, class From>
void check_copy_rows(const Context& ctx, index_t rows, index_t cols, index_t from_gap, index_t to_gap) {
  CAPTURE(rows, cols, from_gap, to_gap, sizeof(To), sizeof(From));
  Matrix<From> from(rows, cols + from_gap);
  fill_random<From>(ctx, Philox{1, 2}, from.view());
  from(0, from_gap / 2) = std::numeric_limits<real_t<From>>::infinity();
  auto from_there = copy_there(ctx, from);
  auto to_there = copy_there(ctx, Matrix<To>::zeros(rows, cols + to_gap));
  copy_rows<To, From>(ctx, from_there.cview().cols(from_gap / 2, cols), to_there.view().cols(to_gap / 2, cols));
  const auto to = copy_here(ctx.stream, to_there);
  CHECK(everywhere(rows, cols + to_gap, [&](index_t i, index_t c) {
    const index_t j = c - to_gap / 2;
    const bool copied = j >= 0 && j < cols;
    return to(i, c) == (copied ? static_cast<To>(from(i, j + from_gap / 2)) : To{});
  }));
}

}  // namespace

TEMPLATE_TEST_CASE("rows are copied to where they lie otherwise, in either precision", "[sanitize][gpu]", double,
                   std::complex<double>) {
  using Wide = TestType;
  using Narrow = std::conditional_t<is_complex<Wide>, std::complex<float>, float>;
  const Context ctx = device_context();
  for (const index_t rows : {1, 33, 70001})
    for (const index_t cols : {1, 3, 8, 24, 300}) {
      if (rows * cols > 2000000) continue;
      for (const auto& [from_gap, to_gap] :
           {std::pair<index_t, index_t>{0, 0}, {0, 120}, {120, 0}, {1, 0}, {0, 3}, {8, 16}}) {
        check_copy_rows<Wide, Wide>(ctx, rows, cols, from_gap, to_gap);
        check_copy_rows<Wide, Narrow>(ctx, rows, cols, from_gap, to_gap);
        check_copy_rows<Narrow, Wide>(ctx, rows, cols, from_gap, to_gap);
        check_copy_rows<Narrow, Narrow>(ctx, rows, cols, from_gap, to_gap);
      }
    }
}

TEMPLATE_TEST_CASE("rows of a list are taken from a block, and put into one", "[sanitize][gpu]", TS_RESULT_TYPES) {
  using T = TestType;
  const Context ctx = device_context();
  const index_t n = 70001, gap = 3;
  std::vector<std::int32_t> list;
  for (std::int32_t i = 0; i < n; i += 1 + i % 3) list.push_back(static_cast<std::int32_t>(n) - 1 - i);
  const index_t count = std::ssize(list);
  DeviceMatrix<std::int32_t> list_there(ctx.stream, 1, count);
  copy(ctx.stream, list_there.view(), HostView<const std::int32_t>(list.data(), 1, count));
  for (const index_t cols : {1, 2, 3, 8, 20}) {
    CAPTURE(cols);
    Matrix<T> block(n, cols + gap);
    fill_random<T>(ctx, Philox{1, 2}, block.view());
    auto block_there = copy_there(ctx, block);
    DeviceMatrix<T> taken_there(ctx.stream, count, cols);
    take_rows<T>(ctx, block_there.cview().cols(1, cols), list_there.cview(), taken_there.view());
    auto taken = copy_here(ctx.stream, taken_there);
    const auto row = [&](index_t i) { return index_t{list[static_cast<std::size_t>(i)]}; };
    CHECK(everywhere(count, cols, [&](index_t i, index_t j) { return taken(i, j) == block(row(i), j + 1); }));
    fill_random<T>(ctx, Philox{1, 3}, taken.view());
    copy(ctx.stream, taken_there.view(), taken.cview());
    put_rows<T>(ctx, taken_there.cview(), list_there.cview(), block_there.view().cols(1, cols));
    for (index_t i = 0; i < count; ++i)
      for (index_t j = 0; j < cols; ++j) block(row(i), j + 1) = taken(i, j);
    CHECK(same(copy_here(ctx.stream, block_there), block));
  }
  take_rows<T>(ctx, DeviceView<const T>(), DeviceView<const std::int32_t>(), DeviceView<T>());
}

TEMPLATE_TEST_CASE("what is left of an empty product is beta times the output", "[gpu]", TS_RESULT_TYPES) {
  const Context ctx = device_context();
  const auto beta = element<TestType>(-0.5, 2);
  for (const index_t n : {1, 50, 3000})
    for (const index_t p : {1, 5, 64, 600})
      for (std::size_t form = 0; form < 6; ++form) {
        CAPTURE(n, p, form);
        Values values(form);
        const auto before = Operand<TestType>::integers(n, p, form_number(form), values);
        auto out = before, zero = Operand<TestType>(n, p, form_number(form));  // NaN everywhere
        const auto scale = [&](TestType factor) {
          return [&ctx, factor]<class V>(V v) {
            if constexpr (V::space == Space::device) detail::scale_output(ctx, factor, DeviceStrided<TestType>(v));
          };
        };
        with_views(ctx, scale(beta), out);
        with_views(ctx, scale(TestType{}), zero);
        CHECK(everywhere(n, p, [&](index_t i, index_t j) {
          return out.wide_at(i, j) == multiply(wide(beta), before.wide_at(i, j)) && zero.at(i, j) == TestType{};
        }));
        CHECK(out.surroundings_untouched());
        CHECK(zero.surroundings_untouched());
      }
}

TEST_CASE("a kernel is not started with arguments of other sizes than it declares", "[gpu]") {
  const Context ctx = device_context();
  const auto plan = cuda::plan_scale(DType::float64, {}, 1, 4, ctx.stream.device());
  CHECK_THROWS_AS(cuda::launch(ctx, plan, index_t{0}, index_t{0}, index_t{0}, index_t{0}, 1.0f), Error);
  CHECK_THROWS_AS(cuda::launch(ctx, plan, index_t{0}), Error);
}

TEST_CASE("a workspace does not grow while its stream is captured", "[gpu]") {
  const Context ctx = device_context();
  CHECK_THROWS_AS(cuda::Graph(ctx.stream, [&] { (void)ctx.stream.workspace(std::size_t{1} << 30); }), Error);
  CHECK_NOTHROW(ctx.stream.synchronize());
}
