#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/solvers/direct/nested_dissection.hpp"
#include "tallskinny/solvers/driver/borrowed.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"
#include "tallskinny/solvers/setup/where.hpp"
#include "tallskinny/tests/support/test.hpp"

using solvers::AnyMatrix;
using solvers::extreme_exponent;
using namespace ts::solvers;
using solvers::Reordering;

namespace {

/// Sparse and dense.
template <class T>
std::vector<AnyMatrix<T>> both(CsrMatrix<T> sparse) {
  std::vector<AnyMatrix<T>> all;
  all.emplace_back(dense_of(sparse));
  all.emplace_back(std::move(sparse));
  return all;
}

/// A grid of side x side points whose numbers are shuffled, and `alone` points that have no neighbours.
CsrMatrix<double> shuffled_grid(index_t side, index_t alone) {
  const index_t n = side * side + alone;
  std::vector<index_t> number(at(n));
  std::iota(number.begin(), number.end(), index_t{0});
  for (index_t i = n - 1; i > 0; --i) std::swap(number[at(i)], number[at((i * 7919 + 13) % (i + 1))]);
  const auto points = solvers::inverse_of(number);
  return csr_by_rows<double>(n, n, [&](index_t row, auto add) {
    const index_t i = points[at(row)];
    const auto beside = [&](index_t j, double value) { add(number[at(j)], value); };
    beside(i, 4 + static_cast<double>(i));
    if (i >= side * side) return;
    if (i % side > 0) beside(i - 1, -1);
    if (i % side + 1 < side) beside(i + 1, -1);
    if (i >= side) beside(i - side, -2);
    if (i + side < side * side) beside(i + side, -2);
  });
}

std::vector<index_t> order_of(Reordering kind, const CsrMatrix<double>& a) {
  return solvers::order_of(kind, a.rows, a.pointers.data(), a.indices.data());
}

double entry(const CsrMatrix<double>& a, index_t i, index_t j) {
  double sum = 0;
  for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i + 1)]; ++e)
    if (a.indices[at(e)] == j) sum += a.values[at(e)];
  return sum;
}

}  // namespace

TEST_CASE("matrices of ordinary numbers are left as they are") {
  for (const auto& a : both(generators::laplacian({7}))) {  // its largest entry is 2
    CHECK(extreme_exponent<double>(Context{}, a) == 0);
    CHECK(extreme_exponent<double>(Context{}, a, true) == 0);
  }
}

TEST_CASE("an extreme exponent is that of the largest part, and scaling by it changes no digit") {
  const auto ring = generators::flux_ring(20, 0.3);
  for (const int exponent : {-1000, -301, 301, 1000})
    for (auto& a : both(ring)) {
      solvers::scale(a, exponent);
      CHECK(std::abs(extreme_exponent<std::complex<double>>(Context{}, a) - exponent) <= 1);
      solvers::Borrowed<std::complex<double>> borrowed(std::move(a));
      const int taken = borrowed.take_exponent(Context{});
      CHECK(std::abs(taken - exponent) <= 1);
      CHECK(borrowed.take_exponent(Context{}) == 0);
      a = owned(borrowed.view());
      solvers::scale(a, taken - exponent);
      const auto* sparse = std::get_if<CsrMatrix<std::complex<double>>>(&a);
      if (sparse != nullptr)
        CHECK(sparse->values == ring.values);
      else
        CHECK(std::get<1>(a)(0, ring.indices[0]) == ring.values[0]);
    }
}

TEST_CASE("float32 is extreme sooner, and a matrix of zeros has no exponent") {
  AnyMatrix<double> a = generators::identity(3);
  solvers::scale(a, 40);  // 2^40 lies in [2^(41 - 1), 2^41)
  CHECK(extreme_exponent<double>(Context{}, a) == 0);
  CHECK(extreme_exponent<double>(Context{}, a, true) == 41);
  CHECK(extreme_exponent<double>(Context{}, AnyMatrix<double>(Matrix<double>::zeros(4, 4))) == 0);
}

TEST_CASE("all that a result tells is scaled, or refused where it is too large") {
  solvers::EigenResult<double> r;
  r.values = {1, -3}, r.residual_norms = {0.5, 0.25}, r.error_bounds = r.residual_norms;
  r.norm = 3, r.next_value = 5, r.gap = 2, r.shift = -4.0;
  solvers::scale_result(r, 3, "a.h5");
  CHECK(r.values == std::vector<double>{8, -24});
  CHECK(r.residual_norms == std::vector<double>{4, 2});
  CHECK(r.error_bounds == r.residual_norms);
  CHECK(r.norm == 24);
  CHECK(r.next_value == 40);
  CHECK(r.gap == 16);
  CHECK(*r.shift == -32);
  CHECK(message_of([&] { solvers::scale_result(r, 1020, "a.h5"); }).starts_with("a.h5 has eigenvalues"));

  solvers::GeneralResult g{.values = {{1, -2}}, .residual_norms = {0.5}, .norm = 4};
  solvers::scale_result(g, -2, "a.h5");
  CHECK(g.values[0] == std::complex<double>(0.25, -0.5));
  CHECK(g.residual_norms[0] == 0.125);
  CHECK(g.norm == 1);
  CHECK_FALSE(message_of([&] { solvers::scale_result(g, 1030, "a.h5"); }).empty());
}

TEST_CASE("large searches are expected to be faster on a GPU, small ones are not", "[short]") {
  ProcessorInfo processor{.threads = 16, .read_bytes_per_second = 1e11, .float64_flops = 5e11};
  const auto gpu = cuda::typical_device("sm_90a");
  EigenOptions o{.nev = 20};
  const auto work = [&](index_t n) {
    return work_of_search(plan_eigen(n, 8, o), n, 8, static_cast<std::uint64_t>(n) * 7 * 12);
  };
  CHECK(seconds_on(processor, work(20000)) < seconds_on(gpu, work(20000)));
  CHECK(seconds_on(processor, work(10000000)) > 3 * seconds_on(gpu, work(10000000)));
  CHECK_FALSE(pays_libraries(gpu, work(10000000)));
  CHECK(pays_libraries(gpu, work(1000000000)));
  CHECK(seconds_on(with_threads(processor, 4), work(10000000)) > 3.9 * seconds_on(processor, work(10000000)));
}

TEST_CASE("k-means: arithmetic counts, in the precision that it is done in", "[short]") {
  const auto few = work_of_kmeans(1000000, 16, 8, 4, 300), many = work_of_kmeans(1000000, 16, 800, 4, 300);
  CHECK(few.bytes == many.bytes);
  CHECK(many.flops == 100 * few.flops);
  CHECK(work_of_kmeans(1000000, 32, 8, 4, 300).flops < 1.5 * few.flops);  // choosing takes most of it
  CHECK(many.narrow);
  CHECK_FALSE(work_of_kmeans(1000, 16, 8, 8, 300).narrow);
  CHECK(work_of_kmeans(1000, 16, 8, 8, 1).bytes == 1000 * 16 * 8);
}

TEST_CASE("labels of many narrow points in one pass are faster on a GPU than on 16 threads", "[short]") {
  ProcessorInfo processor;  // 4.1 to 4.8 s (tests/bench/results/kmeans-predict-2026-11-28.txt)
  processor.threads = 16, processor.read_bytes_per_second = 1e11, processor.float32_flops = 1.4e12;
  const auto work = work_of_kmeans(100000000, 16, 256, 2, 1);
  CHECK(seconds_on(processor, work) > 2);
  CHECK(seconds_on(cuda::typical_device("sm_90a"), work) < 2);
}

TEST_CASE("whole matrices: small ones are nothing for a GPU, large ones are faster there", "[short]") {
  ProcessorInfo processor{.threads = 16, .read_bytes_per_second = 1e11, .float64_flops = 5e11};
  const auto gpu = cuda::typical_device("sm_90a");
  for (const auto task : {DenseTask::hermitian, DenseTask::general, DenseTask::singular}) {
    CHECK(work_of_decomposition(task, whole_on_device - 1, 2 * whole_on_device, 8).flops == 0);
    const auto large = work_of_decomposition(task, 8000, 8000, 8);
    CHECK(seconds_on(processor, large) > 2 * seconds_on(gpu, large));
    CHECK(large.resident >= 2 * 8000.0 * 8000 * 8);
    CHECK(work_of_decomposition(task, 8000, 8000, 16).flops == 4 * large.flops);
  }
  const auto flops = [](DenseTask task) { return work_of_decomposition(task, 4000, 4000, 8).flops; };
  CHECK(flops(DenseTask::hermitian) < flops(DenseTask::general));
  CHECK(whole_on_device_asked < whole_on_device);
}

TEST_CASE("reverse Cuthill-McKee brings a shuffled grid near its diagonal") {
  const index_t side = 40;
  const auto a = shuffled_grid(side, 25);
  const auto order = order_of(Reordering::rcm, a);
  CHECK(order == order_of(Reordering::rcm, a));
  const auto b = solvers::reordered(a, order);
  const auto before = solvers::locality_of(a, 8), after = solvers::locality_of(b, 8);
  CHECK(before.bandwidth > 20 * side);
  CHECK(after.bandwidth <= 3 * side / 2);  // a level of a grid has at most `side` points
  CHECK(after.mean_distance < before.mean_distance / 10);
  CHECK(after.product_bytes <= before.product_bytes);
}

TEST_CASE("a reordered matrix has the entries of the old one, and rows come back to their places") {
  const auto a = shuffled_grid(17, 5);
  for (const Reordering kind : {Reordering::none, Reordering::rcm, Reordering::metis}) {
    if (kind == Reordering::metis && solvers::nested_dissection(a.rows, a.pointers.data(), a.indices.data()).empty())
      continue;
    CAPTURE(solvers::name_of(kind));
    auto order = order_of(kind, a);
    const auto b = solvers::reordered(a, order);
    REQUIRE(b.nonzeros() == a.nonzeros());
    bool same = true;
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t j = 0; j < a.rows; ++j) same = same && entry(b, i, j) == entry(a, order[at(i)], order[at(j)]);
    CHECK(same);
    for (index_t i = 0; i < b.rows; ++i)
      CHECK(std::is_sorted(b.indices.begin() + b.pointers[at(i)], b.indices.begin() + b.pointers[at(i + 1)]));
    const auto places = solvers::inverse_of(order);
    for (index_t i = 0; i < a.rows; ++i) CHECK(places[at(order[at(i)])] == i);
    std::sort(order.begin(), order.end());
    for (index_t i = 0; i < a.rows; ++i) CHECK(order[at(i)] == i);
  }
}

TEST_CASE("METIS refuses a matrix that it does not order, by name") {
  CHECK(mentions(message_of([] { (void)order_of(Reordering::metis, shuffled_grid(3, 0)); }), "METIS"));
}
