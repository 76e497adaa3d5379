// Times a batch of k-means problems beside one problem that has the rows of all: kmeans_batch [cpu|cuda] [repeat].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "tallskinny/app/generators/features.hpp"
#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/solvers/kmeans/variants/batch.hpp"

namespace {

using namespace ts;

struct Shape {
  index_t batch, rows, columns, clusters;
};
// Codebooks of product quantisers, ensembles of small data sets, and a few large problems.
constexpr Shape shapes[] = {{8, 65'536, 8, 256},    {32, 65'536, 8, 256},     {96, 65'536, 8, 256},
                            {16, 262'144, 16, 256}, {64, 10'000, 16, 64},     {256, 4096, 32, 16},
                            {16, 100'000, 32, 100}, {64, 20'000, 64, 256},    {8, 100'000, 128, 1000},
                            {8, 1'000'000, 16, 16}, {4, 1'000'000, 128, 1000}};

/// Milliseconds of the fastest of `repeat` calls, after one that compiles kernels.
template <class Work>
double milliseconds(int repeat, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    if (i > 0) least = std::min(least, taken.count());
  }
  return least;
}

void compare(const Context& ctx, const Shape& s, const Rows& rows, const Matrix<double>& centers, int repeat) {
  const solvers::KMeansOptions o{
      .clusters = s.clusters, .init = solvers::KMeansInit::given, .centers = centers.cview(), .max_iter = 10, .tol = 0};
  const std::vector<Rows> problems = solvers::equal_blocks(rows, s.batch);
  const double together = milliseconds(repeat, [&] { (void)solvers::kmeans_batch(ctx, problems, o); });
  const double one = milliseconds(repeat, [&] { (void)solvers::kmeans(ctx, rows, o); });
  const double alone = milliseconds(repeat, [&] { (void)solvers::kmeans(ctx, problems.front(), o); });
  std::printf("%5td %9td %4td %5td %10.2f %10.2f %10.2f %8.2f\n", s.batch, s.rows, s.columns, s.clusters, together, one,
              alone, together / one);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const bool on_device = argc > 1 && std::string_view(argv[1]) == "cuda";
  const int repeat = argc > 2 ? std::atoi(argv[2]) : 3;
  Context ctx;
  if (on_device) ctx.stream = cuda::Stream(0);
  std::printf(
      "ten iterations of float32 points, milliseconds\nbatch      rows cols     k  the batch  one of all  one "
      "problem  ratio\n");
  for (const Shape& s : shapes) {
    const auto x = generators::uniform<float>(s.batch * s.rows, s.columns, 1);
    Matrix<double> centers(s.clusters, s.columns);
    for (index_t j = 0; j < s.clusters; ++j)
      Rows(x.cview()).load(j * (s.rows / s.clusters), centers.data() + j * s.columns);
    if (on_device) {
      const cuda::KeepMemory kept(ctx.stream);
      DeviceMatrix<float> there(ctx.stream, x.rows(), x.cols());
      copy(ctx.stream, there.view(), x.cview());
      ctx.stream.synchronize();
      compare(ctx, s, Rows(ctx.stream, there.cview()), centers, repeat);
    } else {
      compare(ctx, s, Rows(x.cview()), centers, repeat);
    }
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "kmeans_batch: %s\n", e.what());
  return 1;
}
