// k-means in ten lines.
#include "tallskinny/app/examples/check.hpp"
#include "tallskinny/solvers/driver/cluster.hpp"

int main() {
  auto points = ts::Matrix<float>::zeros(3000, 2);  // about (0, 0), (9, 0) and (0, 9)
  for (ts::index_t i = 0; i < 3000; ++i) {
    points(i, 0) = static_cast<float>(i % 7) / 7 + (i % 3 == 1 ? 9 : 0);
    points(i, 1) = static_cast<float>(i % 5) / 5 + (i % 3 == 2 ? 9 : 0);
  }
  const auto found = ts::solvers::kmeans(ts::Context(), points.cview(), 3);
  std::printf("%s; inertia %g\n", ts::solvers::verdict(found).c_str(), found.inertia);
  expect(found.converged(), "the run converged");
  for (std::size_t i = 3; i < 3000; ++i)
    expect(found.labels[i] == found.labels[i % 3], "rows of one group are together");
  expect(found.labels[0] != found.labels[1] && found.labels[1] != found.labels[2], "groups are apart");
}
