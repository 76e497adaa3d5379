// Principal components: singular values of centred columns.
#include <cmath>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/gemm/random/fill_random.hpp"
#include "tallskinny/solvers/driver/svds.hpp"

int main() {
  constexpr ts::index_t n = 50000, d = 12;
  const ts::Context ctx;
  ts::Matrix<double> x(n, d);
  ts::fill_random<double>(ctx, ts::Philox{7}, x.view());
  for (ts::index_t i = 0; i < n; ++i) {
    const double along = 10 * x(i, 0);  // of variance 100 along (3, 4) / 5 in columns 2 and 3, about a mean of 20
    x(i, 2) += 0.6 * along, x(i, 3) += 0.8 * along + 20;
    x(i, 0) *= 0.1;
  }
  ts::solvers::SvdsOptions options;
  options.centre = true;
  const auto pca = ts::solvers::svds(ctx, x, 2, options);
  std::printf("%s\nshares of the variance %.3f, %.3f\n", pca.triplets.reason.c_str(), pca.explained_variance_ratio[0],
              pca.explained_variance_ratio[1]);
  expect(pca.triplets.verified, "nothing is missing");
  const double along = std::abs(0.6 * pca.v()(2, 0) + 0.8 * pca.v()(3, 0));
  expect(std::abs(along - 1) < 1e-3, "the first component is the direction that was put in");
  // Variances of the columns: 11 columns of 1, one of 0.01, and 100.
  expect(std::abs(pca.explained_variance_ratio[0] - 101 / 111.01) < 0.01, "its share");
  expect(std::abs(pca.means[3] - 20) < 0.2, "the mean of column 3");
}
