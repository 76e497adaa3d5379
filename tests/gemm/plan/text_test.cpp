// Amounts and shapes as people read them.
#include "tallskinny/gemm/plan/text.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;

TEST_CASE("amounts have two decimals below ten of a unit, and times always") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1536) == "1.50 KiB");
  CHECK(bytes_text(20480) == "20 KiB");
  CHECK(flops_text(2.5e9) == "2.50 Gflop");
  CHECK(flops_text(3e15) == "3000 Tflop");
  CHECK(time_text(2) == "2.00 s");
  CHECK(time_text(1.5e-3) == "1.50 ms");
  CHECK(time_text(2e-6) == "2.00 us");
}

TEST_CASE("shapes say what is multiplied") {
  CHECK(shape_text({Operation::gram, DType::float64, 1000, 8, 8}) == "1000 x 8");
  CHECK(shape_text({Operation::tsmm, DType::float64, 1000, 8, 4}) == "1000 x 8 times 8 x 4");
  CHECK(shape_text({Operation::tsmttsm, DType::float64, 1000, 8, 4}) == "1000 x 8 and 1000 x 4");
}
