#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/checks.hpp"
#include "tallskinny/gemm/core/host_memory.hpp"
#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/runtime/placed.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/counting_memory.hpp"
#include "tallskinny/tests/support/test.hpp"

namespace {

/// Marks what a view covers: the slow and certain way to see whether two views meet.
template <class V>
std::vector<bool> covered(const V& view, const double* base, std::size_t size) {
  std::vector<bool> cells(size, false);
  for (index_t i = 0; i < view.rows(); ++i)
    for (index_t j = 0; j < view.cols(); ++j) cells[static_cast<std::size_t>(&view(i, j) - base)] = true;
  return cells;
}

template <class V>
void compare_all_blocks(const V& parent, std::size_t size) {
  std::vector<V> blocks;
  for (index_t i = 0; i < parent.rows(); i += 2)
    for (index_t j = 0; j < parent.cols(); ++j)
      for (index_t r = 0; i + r <= parent.rows(); r += 2)
        for (index_t c = 0; j + c <= parent.cols(); ++c) blocks.push_back(parent.block(i, j, r, c));
  for (const V& a : blocks)
    for (const V& b : blocks) {
      const auto in_a = covered(a, parent.data(), size), in_b = covered(b, parent.data(), size);
      bool meet = false;
      for (std::size_t k = 0; k < size; ++k) meet = meet || (in_a[k] && in_b[k]);
      if (detail::overlap(Strided<double>(a), Strided<double>(b)) != meet)
        FAIL("blocks at " << a.data() - parent.data() << " (" << a.rows() << " x " << a.cols() << ") and "
                          << b.data() - parent.data() << " (" << b.rows() << " x " << b.cols() << ")");
    }
  SUCCEED();
}

}  // namespace

static_assert(!std::is_constructible_v<HostView<double>, DeviceView<double>>);
static_assert(!std::is_constructible_v<DeviceView<double>, HostView<double>>);
static_assert(!std::is_constructible_v<HostView<double>, HostView<const double>>);
static_assert(std::is_constructible_v<HostView<const double>, HostView<double>>);
static_assert(!std::is_constructible_v<HostView<double>, HostView<double, Layout::col_major>>);
static_assert(!HostMatrix<DeviceView<double>>);
static_assert(HostMatrix<HostView<const float16, Layout::col_major>>);
static_assert(!std::is_copy_constructible_v<Matrix<double>>);

TEST_CASE("a view stands where its layout and leading dimension say") {
  double memory[40];
  for (int i = 0; i < 40; ++i) memory[i] = i;
  const HostView<double> rows(memory, 4, 3, 5);
  const HostView<double, Layout::col_major> columns(memory, 4, 3, 5);
  CHECK(rows(2, 1) == 11);
  CHECK(columns(2, 1) == 7);
  CHECK(rows.transposed()(1, 2) == 11);
  CHECK(rows.block(1, 1, 2, 2)(1, 1) == 12);
  CHECK(columns.cols(1, 2).rows(3, 1)(0, 1) == 13);
  CHECK(Strided<const double>(columns)(2, 1) == 7);
  CHECK(Strided<double>(rows).transposed()(1, 2) == 11);
}

TEST_CASE("a view refuses what cannot be one") {
  double x = 0;
  CHECK_THROWS_AS(HostView<double>(&x, -1, 1), Error);
  CHECK_THROWS_AS(HostView<double>(&x, 1, 3, 2), Error);
  CHECK_THROWS_AS(HostView<double>(nullptr, 1, 1), Error);
  CHECK_NOTHROW(HostView<double>(nullptr, 0, 7));
  const HostView<double> view(&x, 1, 1);
  CHECK_THROWS_AS(view.block(0, 0, 1, 2), Error);
  CHECK_THROWS_AS(view.rows(-1, 1), Error);
}

TEST_CASE("a complex matrix is a real one of twice the width and distance of rows, constant or not") {
  std::complex<double> memory[10];
  for (int i = 0; i < 10; ++i) memory[i] = {1.0 * i, -1.0 * i};
  const HostView<std::complex<double>> x(memory, 2, 3, 5);
  const HostView<const double> reals = as_reals(HostView<const std::complex<double>>(x));
  CHECK(reals.cols() == 6);
  CHECK(reals.ld() == 10);
  CHECK(reals(1, 4) == 7);
  CHECK(reals(1, 5) == -7);
  as_reals(x)(1, 1) = 2;
  CHECK(memory[5].imag() == 2);
  double real[6] = {0, 1, 2, 3, 4, 5};
  CHECK(as_reals(HostView<const double>(real, 2, 2, 3)).ld() == 3);
}

TEST_CASE("blocks of a strided view stand where they did, in either layout") {
  double memory[24];
  for (int i = 0; i < 24; ++i) memory[i] = i;
  const Strided<double> rows(HostView<double>(memory, 3, 4, 8));
  const Strided<const double> block = rows.block(1, 1, 2, 3);  // constant where that is asked for
  CHECK(block.rows == 2);
  CHECK(block.cols == 3);
  CHECK(block(1, 2) == rows(2, 3));
  CHECK(rows.transposed().block(1, 1, 3, 2)(2, 1) == rows(2, 3));
  CHECK(Strided<double>().block(0, 0, 0, 0).data == nullptr);
}

TEST_CASE("a matrix owns aligned memory of 64-bit size") {
  auto m = Matrix<float>::zeros(3, 2);
  CHECK(m(2, 1) == 0.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(m.data()) % 64 == 0);
  const float* before = m.data();
  const Matrix<float> moved = std::move(m);
  CHECK(moved.data() == before);
  CHECK_THROWS_AS(Matrix<double>(-1, 2), Error);
  CHECK_THROWS_AS(Matrix<double>(INT64_MAX / 4, 2), Error);
  CHECK(Matrix<double>(0, 5).empty());

  double memory[] = {1, 2, 3, 4, 5, 6};
  const auto copy = Matrix<double, Space::host, Layout::col_major>::copy_of(HostView<double>(memory, 2, 3));
  CHECK(copy(1, 0) == 4);
  CHECK(copy.data()[1] == 4);
}

// float16(1.5f) would take the number for bits: only to_float16 and from_bits say what is meant.
template <class Half, class... From>
constexpr bool made_of_any = (std::is_constructible_v<Half, From> || ...);
static_assert(!made_of_any<float16, float, double, int, std::uint16_t, bfloat16>);
static_assert(!made_of_any<bfloat16, float, double, int, std::uint16_t, float16>);
static_assert(std::is_trivially_copyable_v<float16> && sizeof(float16) == 2);
static_assert(float16::from_bits(0x3e00) == to_float16(1.5f) && bfloat16::from_bits(0x3fc0) == to_bfloat16(1.5f));

TEST_CASE("a type as a value leads to the type of the language, and back") {
  for (const DType type : every_dtype) {
    CHECK(by_type(type, []<class T>(std::type_identity<T>) { return dtype_of<T>; }) == type);
    CHECK(by_type(type, []<class T>(std::type_identity<T>) { return sizeof(T); }) == size_of(type));
    const bool real = parts_of(type) == 1;
    CHECK(by_real_type(type, []<class T>(std::type_identity<T>) { return dtype_of<T>; }) ==
          (real ? type : DType::float64));
  }
  STATIC_REQUIRE(digits_of(DType::float64) == std::numeric_limits<double>::digits);
  STATIC_REQUIRE(digits_of(DType::complex64) == std::numeric_limits<float>::digits);
  STATIC_REQUIRE(std::tuple_size_v<ElementTypes::tuple_of<std::allocator>> == std::size(every_dtype));
  STATIC_REQUIRE(std::tuple_size_v<RealTypes::tuple_of<std::allocator>> == 4);
}

TEST_CASE("every finite float16 survives the way to float and back") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = float16::from_bits(static_cast<std::uint16_t>(bits));
    const float f = to_float(h);
    if (std::isnan(f))
      CHECK(std::isnan(to_float(to_float16(f))));
    else if (to_float16(f) != h)
      FAIL("float16 bits " << bits << " became " << to_float16(f).bits);
  }
}

TEST_CASE("float16 rounds to nearest, ties to even, and overflows to infinity") {
  for (const auto& [x, rounded] :
       {std::pair{2049.0f, 2048.0f}, {2051.0f, 2052.0f}, {65519.0f, 65504.0f}, {0x1p-24f, 0x1p-24f}, {0x1p-25f, 0.0f}})
    CHECK(to_float(to_float16(x)) == rounded);
  CHECK(std::isinf(to_float(to_float16(65520.0f))));
  CHECK(std::signbit(to_float(to_float16(-0.0f))));
}

TEST_CASE("bfloat16 is the rounded upper half of a float") {
  CHECK(to_float(to_bfloat16(1.0f)) == 1.0f);
  CHECK(to_float(to_bfloat16(1.00390625f)) == 1.0f);       // a tie, to even
  CHECK(to_float(to_bfloat16(1.01171875f)) == 1.015625f);  // a tie, to even
  CHECK(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isinf(to_float(to_bfloat16(std::numeric_limits<float>::max()))));
}

TEST_CASE("overlap of blocks of one parent is exact") {
  std::vector<double> memory(64);
  compare_all_blocks(HostView<double>(memory.data(), 6, 5, 5), memory.size());
  compare_all_blocks(HostView<double>(memory.data(), 6, 5, 9), memory.size());
  compare_all_blocks(HostView<double, Layout::col_major>(memory.data(), 6, 4, 6), memory.size());
  compare_all_blocks(HostView<double, Layout::col_major>(memory.data(), 6, 4, 11), memory.size());
}

TEST_CASE("overlap of views with unlike strides or element types is judged by their addresses") {
  std::vector<double> memory(64);
  const Strided<double> a(HostView<double>(memory.data(), 4, 4));
  CHECK(detail::overlap(a, Strided<double>(HostView<double>(memory.data() + 15, 2, 3))));
  CHECK_FALSE(detail::overlap(a, Strided<double>(HostView<double>(memory.data() + 16, 2, 3))));
  auto* half = reinterpret_cast<float16*>(memory.data());
  CHECK(detail::overlap(a, Strided<float16>(HostView<float16>(half + 63, 1, 1))));
  CHECK_FALSE(detail::overlap(a, Strided<float16>(HostView<float16>(half + 64, 1, 1))));
  CHECK_FALSE(detail::overlap(a, Strided<double>()));
}

TEST_CASE("matrices take their memory from the resource in use, and give it back to the same") {
  CountingMemory first, second;
  {
    Matrix<double> kept;
    {
      const UseHostMemory use(&first);
      kept = Matrix<double>(10, 3);
      CHECK((first.out == 1 && first.bytes == 240));
      const UseHostMemory inner(&second);
      const Matrix<float> other = Matrix<float>::zeros(4, 1);
      const UseHostMemory nothing(nullptr);
      CHECK(host_memory() == &second);
      CHECK((second.out == 1 && first.out == 1));
    }
    CHECK(host_memory() == own_host_memory());
    CHECK((first.out == 1 && second.out == 0));
    const Matrix<double> named(5, 5, &second);
    CHECK(second.out == 1);
  }
  CHECK((first.out == 0 && first.bytes == 0 && second.out == 0));
}

TEST_CASE("threads that work for one that uses a resource use it, too") {
  CountingMemory memory;
  const UseHostMemory use(&memory);
  parallel(4, [](int) { const Matrix<double> own(3, 3); });
  CHECK((memory.taken == 4 && memory.out == 0));
}

TEST_CASE("operations of a context with a resource take all their matrices from it") {
  CountingMemory mine, others;
  const UseHostMemory caught(&others);
  Context ctx{.threads = 2, .host_memory = &mine};
  constexpr index_t rows = 20000, width = 100;  // wide enough for every way that an operation has
  std::vector<double> x(rows * width, 1.0), y(rows * width), small(width * width, 0.5), norms(width);
  const HostView<const double> tall(x.data(), rows, width), s(small.data(), width, width);
  gram(ctx, Op::adjoint, 1.0, tall, 0.0, HostView<double>(small.data(), width, width));
  tsmm(ctx, Op::none, 1.0, tall, s, 0.0, HostView<double>(y.data(), rows, width));
  column_norms(ctx, tall, norms);
  const PlacedMatrix<double> placed(ctx, Space::host, 8, 2);
  CHECK((mine.taken > 2 && mine.out == 1));
  CHECK(others.taken == 0);
}

TEST_CASE("a resource that has no more is an error that names the bytes") {
  const Matrix<double> nothing(0, 5, std::pmr::null_memory_resource());
  CHECK(nothing.data() == nullptr);
  const auto refusal = message_of([] { const Matrix<double> m(3, 5, std::pmr::null_memory_resource()); });
  CHECK(mentions(refusal, "120 bytes of host memory"));
}
