#include "tallskinny/gemm/core/matrix.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

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
