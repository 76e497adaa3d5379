#include "tallskinny/solvers/setup/where.hpp"

#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;

TEST_CASE("large searches are expected to be faster on a GPU, small ones are not", "[short]") {
  ProcessorInfo processor;
  processor.threads = 16, processor.read_bytes_per_second = 1e11, processor.float64_flops = 5e11;
  const auto gpu = cuda::typical_device("sm_90a");
  EigenOptions o;
  o.nev = 20;
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
  ProcessorInfo processor;
  processor.threads = 16, processor.read_bytes_per_second = 1e11, processor.float64_flops = 5e11;
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
