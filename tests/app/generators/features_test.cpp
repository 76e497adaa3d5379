#include "tallskinny/app/generators/features.hpp"

#include <cmath>
#include <set>

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::generators;

TEST_CASE("blobs lie around their centres with the spread that was asked for") {
  const Blobs set(20000, 3, 5, 0.5, 10, 1000, 42);
  const Matrix<double> x = blobs<double>(set);
  const auto labels = set.labels();
  double square = 0, mean = 0;
  std::vector<int> sizes(5, 0);
  for (index_t i = 0; i < x.rows(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    ++sizes[static_cast<std::size_t>(label)];
    for (index_t j = 0; j < 3; ++j) {
      const double error = x(i, j) - set.centers()(label, j);
      mean += error, square += error * error;
    }
  }
  const double count = 60000;
  CHECK(std::fabs(mean / count) < 4 * 0.5 / std::sqrt(count));
  CHECK(std::fabs(square / count - 0.25) < 4 * 0.25 * std::sqrt(2 / count));
  for (const int size : sizes) CHECK(std::abs(size - 4000) < 4 * 57);
  for (index_t c = 0; c < 5; ++c)
    for (index_t j = 0; j < 3; ++j) CHECK(std::fabs(set.centers()(c, j) - 1000) <= 10);
}

TEMPLATE_TEST_CASE("any part of a feature set equals that part of the whole", "", double, float, float16, bfloat16) {
  const Blobs set(50, 5, 4, 1, 10, 0, 1);
  const auto check = [](const Matrix<TestType>& whole, auto fill) {
    Matrix<TestType> part(7, whole.cols());
    fill(index_t{20}, part.view());
    for (index_t i = 0; i < 7; ++i)
      for (index_t j = 0; j < whole.cols(); ++j) CHECK(part(i, j) == whole(20 + i, j));
  };
  check(blobs<TestType>(set), [&](index_t at, HostView<TestType> out) { set.fill<TestType>(at, out); });
  check(uniform<TestType>(50, 3, 2), [](index_t at, HostView<TestType> out) { fill_uniform<TestType>(at, 2, out); });
  check(duplicates<TestType>(50, 3, 6, 2),
        [](index_t at, HostView<TestType> out) { fill_duplicates<TestType>(at, 6, 2, out); });
}

TEST_CASE("duplicates have exactly the distinct rows that were asked for") {
  const Matrix<double> x = duplicates<double>(200, 2, 7, 3);
  std::set<std::pair<double, double>> distinct;
  for (index_t i = 0; i < 200; ++i) {
    distinct.emplace(x(i, 0), x(i, 1));
    const index_t first = duplicate_label(i, 7, 3);
    CHECK(x(i, 0) == x(first, 0));
  }
  CHECK(distinct.size() == 7);
}

TEST_CASE("seeds differ, the same seed does not, and every blob has a row") {
  CHECK(uniform<double>(1, 1, 1)(0, 0) == uniform<double>(1, 1, 1)(0, 0));
  CHECK(uniform<double>(1, 1, 1)(0, 0) != uniform<double>(1, 1, 2)(0, 0));
  const auto labels = Blobs(64, 1, 64, 1, 1, 0, 9).labels();
  CHECK(std::set<std::int32_t>(labels.begin(), labels.end()).size() == 64);
  CHECK(blobs<float>(Blobs(0, 3, 2, 1, 1, 0, 0)).rows() == 0);
  CHECK_THROWS_AS(Blobs(10, 2, 0, 1, 1, 0, 0), Error);
}
