#include "tallskinny/app/generators/spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/tests/support/test.hpp"
#include "tallskinny/tests/support/tolerance.hpp"

using namespace ts;
using ts::generators::Spectrum;

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
      CHECK(std::fabs(low[i] - all[i]) < test::allowed::short_sum);
      CHECK(std::fabs(high[i] - all[all.size() - k + i]) < test::allowed::short_sum);
      CHECK(std::fabs(far[i] - all[all.size() - k + i]) < test::allowed::short_sum);
    }
  }
}

TEST_CASE("a few eigenvalues of a huge grid cost next to nothing") {
  const Spectrum s = generators::laplacian_spectrum({100000, 100000, 100000});
  CHECK(s.count() == 1000000000000000);
  const auto low = s.smallest(7);
  CHECK(std::fabs(low[1] / low[2] - 1) < test::allowed::last_place);
  CHECK(std::fabs(low[1] / low[0] - 2) < test::allowed::default_run);  // (4 + 1 + 1) / (1 + 1 + 1)
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
