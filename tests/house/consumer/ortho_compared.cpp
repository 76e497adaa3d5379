// Columns made orthonormal by a method chosen by its name.
#include <cmath>
#include <cstdio>

#include "tallskinny/solvers/ortho/compared/catalogue.hpp"

int main() {
  const ts::Context ctx;
  constexpr ts::index_t n = 1000, p = 4;
  ts::Matrix<double> x(n, p), r(p, p);
  for (ts::index_t i = 0; i < n; ++i)
    for (ts::index_t j = 0; j < p; ++j) x(i, j) = std::cos(static_cast<double>((i + 1) * (j + 1)));
  const auto method = ts::ortho::method_named("BCGSI+.HQR");
  if (!method) return 1;
  (void)ts::ortho::orthonormalise<double>(ctx, *method, x.view(), r.view(), p);
  double loss = 0;
  for (ts::index_t a = 0; a < p; ++a)
    for (ts::index_t b = 0; b < p; ++b) {
      double product = a == b ? -1 : 0;
      for (ts::index_t i = 0; i < n; ++i) product += x(i, a) * x(i, b);
      loss = std::fmax(loss, std::fabs(product));
    }
  std::printf("loss of orthogonality %g\n", loss);
  return loss < 1e-14 ? 0 : 1;
}
