#include "tallskinny/app/tsbench/scaling_measure.hpp"

#include "tallskinny/tests/support/needs.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::bench;

namespace {

const std::vector<ScalingCase> few_cases = {
    {DType::float64, {3, 5}, 5000}, {DType::complex64, {8, 8}, 257}, {DType::bfloat16, {1, 2}, 70000}};

void check_ranks(const ScalingRequest& request, int ranks) {
  std::vector<ScalingMeasured> all;
  measure_scaling(request, ranks, few_cases, [&](const ScalingMeasured& m) { all.push_back(m); });
  REQUIRE(all.size() == few_cases.size());
  for (const ScalingMeasured& m : all) {
    CAPTURE(m.ranks, m.what.rows, m.worst_error);
    CHECK((m.ranks == ranks && m.right() && m.worst_error > 0));
    CHECK((m.run_to_run > 0 && m.gpu_to_gpu > 0 && m.plain > 0 && m.gathers > 0));
  }
}

}  // namespace

TEST_CASE("sums over rows on ranks are right, and at gpu_to_gpu have the bits of one, before they are timed") {
  for (const int ranks : {1, 2, 5}) check_ranks({.gpu = false, .threads = 1, .turns = 1, .log = {}}, ranks);
}

TEST_CASE("the same on GPUs", "[gpus]") { check_ranks({.gpu = true, .threads = 1, .turns = 2, .log = {}}, 2); }

TEST_CASE("ranks that need a GPU each say how many there are") {
  const auto found = static_cast<int>(cuda::list_devices().devices.size());
  try {
    check_ranks({.gpu = true, .threads = 1, .turns = 1, .log = {}}, found + 1);
    FAIL("there is no such GPU");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find(std::to_string(found + 1) + " ranks need a GPU each") != std::string::npos);
  }
}
