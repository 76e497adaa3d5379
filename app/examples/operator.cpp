// Vibrations of a square membrane: the operator is a function, and no matrix is stored.
#include <cmath>
#include <numbers>

#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/solvers/driver/eigsh.hpp"

struct Membrane {  // m x m points: y = 4 x - its four neighbours
  ts::index_t m;
  [[nodiscard]] ts::index_t rows() const { return m * m; }
  void apply(const ts::Context&, ts::HostView<const double> x, ts::HostView<double> y) const {
    for (ts::index_t i = 0; i < m; ++i)
      for (ts::index_t k = 0; k < m; ++k)
        for (ts::index_t c = 0; c < x.cols(); ++c) {
          const ts::index_t r = i * m + k;
          double sum = 4 * x(r, c);
          if (i > 0) sum -= x(r - m, c);
          if (i + 1 < m) sum -= x(r + m, c);
          if (k > 0) sum -= x(r - 1, c);
          if (k + 1 < m) sum -= x(r + 1, c);
          y(r, c) = sum;
        }
  }
};

int main() {
  constexpr ts::index_t m = 40;
  ts::solvers::EigshOptions<double> options;
  options.which = ts::solvers::Which::SA;
  const auto found = ts::solvers::eigsh<double>(ts::Context(), ts::solvers::Operator<double>(Membrane{m}), 4, options);
  std::puts(found.reason.c_str());
  expect(found.verified, "nothing is missing");
  const auto tone = [](int k) { return 2 - 2 * std::cos(k * std::numbers::pi / (m + 1)); };
  const double exact[] = {tone(1) + tone(1), tone(1) + tone(2), tone(2) + tone(1), tone(2) + tone(2)};
  for (int k = 0; k < 4; ++k) {
    std::printf("%.10f\n", found.values[static_cast<std::size_t>(k)]);
    expect(std::abs(found.values[static_cast<std::size_t>(k)] - exact[k]) < 1e-8, "a tone of the membrane");
  }
}
