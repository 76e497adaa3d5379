// Level gpu_to_gpu on a GPU: the bits of sums over rows depend neither on the device nor on how many slabs
// the rows are distributed over.
#include "tallskinny/gemm/plan/tuned.hpp"
#include "tallskinny/tests/support/engine.hpp"
#include "tallskinny/tests/support/sums_over_rows.hpp"

namespace {

Context rehearsing(const cuda::DeviceInfo& device) {
  return Context{.determinism = Determinism::gpu_to_gpu, .stream = cuda::Stream::rehearsing(device)};
}

/// The kernels that sums over rows start on this device.
template <class T>
std::vector<cuda::KernelPlan> kernels_on(const cuda::DeviceInfo& device, const SumsOverRows<T>& sums) {
  const Context ctx = rehearsing(device);
  (void)sums.bits_of_whole(ctx);
  return ctx.stream.rehearsal()->kernels;
}

template <class T>
void check_slabs_of(index_t n, index_t p, index_t q, Form form) {
  CAPTURE(n, p, q, form.padding, form.offset);
  const Context ctx = device_context(Determinism::gpu_to_gpu);
  const SumsOverRows<T> sums(n, p, q, form);
  cuda::prepare(ctx, kernels_on(ctx.stream.device(), sums));
  check_slabs(ctx, sums);
}

}  // namespace

TEMPLATE_TEST_CASE("sums over rows start the same kernels in the same grids on GPUs of every size", "[rehearsal][cuda]",
                   TS_ALL_TYPES) {
  for (const index_t width : {1, 8, 33, 200})
    for (const index_t n : {1, 1000, 100000}) {
      CAPTURE(width, n);
      cuda::DeviceInfo device = cuda::typical_device("sm_90a");
      const SumsOverRows<TestType> sums(n, width, 5, {});
      const auto kernels = kernels_on(device, sums);
      CHECK_FALSE(kernels.empty());
      for (const int multiprocessors : {1, 7, 60, 132}) {
        device.multiprocessors = multiprocessors;
        CHECK(kernels_on(device, sums) == kernels);
      }
      CHECK(kernels_on(cuda::typical_device("sm_100"), sums) == kernels);
    }
}

TEMPLATE_TEST_CASE("on a GPU the bits of 1, 2, 3 and 7 slabs are those of the whole", "[gpu]", TS_ALL_TYPES) {
  for (std::size_t form = 0; form < 3; ++form) check_slabs_of<TestType>(50021, 33, 7, form_number(form));
  check_slabs_of<TestType>(1, 2, 1, form_number(2));
  check_slabs_of<TestType>(100003, 1, 1, form_number(0));
  check_slabs_of<TestType>(30011, 64, 64, form_number(0));
  check_slabs_of<TestType>(9001, 200, 40, form_number(1));  // wider than one kernel takes
}

TEMPLATE_TEST_CASE("sums over the rows of slabs, small enough for the sanitizer", "[sanitize][gpu]", TS_ALL_TYPES) {
  check_slabs_of<TestType>(2003, 8, 8, {});
  check_slabs_of<TestType>(700, 7, 3, {Layout::col_major, 1, 1});
}

TEMPLATE_TEST_CASE("on a GPU at level run_to_run slabs may begin anywhere, and be empty", "[gpu]", TS_RESULT_TYPES) {
  const SumsOverRows<TestType> sums(5000, 9, 4, {});
  const Context ctx = device_context();
  const auto bits = sums.bits_of_slabs(ctx, RowSlabs({0, 0, 17, 4000, 4000, 5000}));
  CHECK(bits == sums.bits_of_slabs(ctx, RowSlabs({0, 0, 17, 4000, 4000, 5000})));
  CHECK(bits.size() == sums.bits_of_whole(ctx).size());
}
