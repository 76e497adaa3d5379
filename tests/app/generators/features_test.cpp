#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/app/generators/spectrum.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::generators;
using ts::generators::Spectrum;

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

TEST_CASE("parts of a spectrum come in ascending order with their multiplicity") {
  const Spectrum s({3, -5, 1, 1, -2});
  CHECK(s.count() == 5);
  CHECK(s.all() == std::vector<double>{-5, -2, 1, 1, 3});
  CHECK(s.smallest(2) == std::vector<double>{-5, -2});
  CHECK(s.largest(3) == std::vector<double>{1, 1, 3});
  CHECK(s.largest_magnitude(2) == std::vector<double>{-5, 3});
  CHECK(s.nearest(0, 3) == std::vector<double>{-2, 1, 1});
  CHECK(s.smallest(99) == s.all());
  CHECK(s.smallest(0).empty());
  CHECK(Spectrum(std::vector<double>{}).all().empty());
  CHECK_THROWS_AS(s.smallest(-1), Error);
}

TEST_CASE("parts of a Kronecker sum equal those of the whole table") {
  const Spectrum s = generators::laplacian_spectrum({9, 7, 8});
  const auto all = s.all();
  REQUIRE(std::ssize(all) == 9 * 7 * 8);
  for (const std::size_t k : {1u, 5u, 40u, 100u, 503u}) {
    const auto n = static_cast<index_t>(k);
    const auto low = s.smallest(n), high = s.largest(n), far = s.largest_magnitude(n);
    for (std::size_t i = 0; i < k; ++i) {
      CHECK(std::fabs(low[i] - all[i]) < allowed::short_sum);
      CHECK(std::fabs(high[i] - all[all.size() - k + i]) < allowed::short_sum);
      CHECK(std::fabs(far[i] - all[all.size() - k + i]) < allowed::short_sum);
    }
  }
}

TEST_CASE("a few eigenvalues of a huge grid cost next to nothing") {
  const Spectrum s = generators::laplacian_spectrum({100000, 100000, 100000});
  CHECK(s.count() == 1000000000000000);
  const auto low = s.smallest(7);
  CHECK(std::fabs(low[1] / low[2] - 1) < allowed::last_place);
  CHECK(std::fabs(low[1] / low[0] - 2) < allowed::default_run);  // (4 + 1 + 1) / (1 + 1 + 1)
  CHECK(s.largest(7).back() < 12);
}

TEST_CASE("negative values and a hypercube's multiplicities survive the sums") {
  CHECK(Spectrum::sum({{-1, 1}, {-10, 10}}).all() == std::vector<double>{-11, -9, 9, 11});
  CHECK(Spectrum::sum({{-1, 1}, {-10, 10}}).largest(1) == std::vector<double>{11});
  CHECK(Spectrum::sum({{-1, 1}, {-10, 2}}).largest_magnitude(1) == std::vector<double>{-11});
  const auto top = generators::hypercube_spectrum(20).largest(22);
  CHECK(std::count(top.begin(), top.end(), 40.0) == 1);
  CHECK(std::count(top.begin(), top.end(), 38.0) == 20);
  CHECK(std::count(top.begin(), top.end(), 36.0) == 1);
  CHECK(Spectrum::sum({{1, 2}, {}}).count() == 0);
  CHECK(Spectrum::sum({{1, 2}, {}}).all().empty());
}
