#include "tallskinny/solvers/setup/rank_model.hpp"

#include "tallskinny/solvers/setup/where.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::solvers;
using Catch::Detail::Approx;

namespace {

/// Round numbers: 4 ranks of a node.
MachineModel machine() {
  return {.name = "round",
          .gpu = false,
          .ranks_per_node = 4,
          .memory_bytes = 1e12,
          .memory_bytes_per_second = 1e9,
          .flops_per_second = 1e10,
          .narrow_flops_per_second = 2e10,
          .message_seconds = 1e-5,
          .network_bytes_per_second = 4e8,
          .node_message_seconds = 1e-6,
          .node_bytes_per_second = 1e9,
          .read_bytes_per_second = 1e9};
}

PointsShape points(index_t n, index_t d) {
  return {"points", n, d, n * d, DType::float32, static_cast<std::uint64_t>(n * d * 4), false, true};
}

KMeansOptions clusters(index_t k) {
  KMeansOptions o;
  o.clusters = k;
  return o;
}

/// 24 units of whole 256 rows; a neighbour needs a plane.
constexpr index_t rows = 24 * 256 * 2048, plane = 65536;

RankPrediction laplacian(const MachineModel& m, index_t ranks) {
  EigenOptions options;
  options.nev = 20;
  return predict_hermitian(m, plan_eigen(rows, 8, options), {rows, 7 * rows, 8, plane}, ranks);
}

std::uint64_t bytes_of(const RankPrediction& p, const std::string& what) {
  for (const MemoryUse& use : p.memory)
    if (use.what == what) return use.bytes;
  return 0;
}

}  // namespace

TEST_CASE("one rank sends nothing", "[ranks]") {
  for (const RankPrediction& p :
       {predict_kmeans(machine(), clusters(8), points(1 << 20, 16), 1), laplacian(machine(), 1)}) {
    CHECK(p.step.messages == 0);
    CHECK(p.step.sent == 0);
    CHECK(p.step.latency_seconds == 0);
    CHECK(p.start.sent == 0);
    CHECK(p.step.seconds() > 0);
    CHECK(p.limits.empty());
  }
}

TEST_CASE("a pass of k-means by hand", "[ranks]") {
  // 2 ranks of one node, 2^20 points each: 64 MiB of points, labels twice; k d = 128.
  const RankPrediction p = predict_kmeans(machine(), clusters(8), points(1 << 21, 16), 2);
  CHECK(p.rows == 1 << 20);
  CHECK(p.working == 2);
  CHECK(p.step.moved == 72.0 * (1 << 20));
  CHECK(p.step.flops == 256.0 * (1 << 20));
  CHECK(p.step.messages == 6);         // three sums, two messages each
  CHECK(p.step.sent == 8 * 280 + 48);  // 2 bytes (P - 1) / P
  CHECK(p.step.latency_seconds == Approx(6e-6));
  CHECK(p.step.network_seconds == Approx(2288e-9));
  CHECK(p.step.memory_seconds == Approx(72.0 * (1 << 20) / 1e9));
  CHECK(p.step.arithmetic_seconds == Approx(256.0 * (1 << 20) / 2e10));
  CHECK(p.step.seconds() == Approx(p.step.memory_seconds + 6e-6 + 2288e-9));
  CHECK(p.steps == typical_passes);
  CHECK(p.read_seconds == Approx(128.0 * (1 << 20) / 1e9));
}

TEST_CASE("collectives double up to long messages, which go round in a ring", "[ranks]") {
  RankCost brief, lengthy, sum, halo;
  add_all_gather(machine(), 16, 1600, brief);
  CHECK(brief.messages == 4);
  CHECK(brief.sent == 1500);
  CHECK(brief.latency_seconds == Approx(4e-5));
  CHECK(brief.network_seconds == Approx(1500 / 1e8));  // a quarter of the node's network
  add_all_gather(machine(), 16, 1.6e6, lengthy);
  CHECK(lengthy.messages == 15);
  add_all_reduce(machine(), 5, 1000, sum);
  CHECK(sum.messages == 6);
  CHECK(sum.sent == 1600);
  add_exchange(machine(), 8, 2, 1000, halo);
  CHECK(halo.messages == 1);
  CHECK(halo.sent == 2000);
}

TEST_CASE("twice the network halves what is sent, and nothing else", "[ranks]") {
  MachineModel fast = machine();
  fast.network_bytes_per_second *= 2;
  const auto check = [](const RankCost& slow, const RankCost& quick) {
    CHECK(quick.network_seconds == Approx(slow.network_seconds / 2));
    CHECK(quick.latency_seconds == slow.latency_seconds);
    CHECK(quick.sent == slow.sent);
    CHECK(quick.memory_seconds == slow.memory_seconds);
  };
  check(predict_kmeans(machine(), clusters(64), points(1 << 22, 16), 16).step,
        predict_kmeans(fast, clusters(64), points(1 << 22, 16), 16).step);
  check(laplacian(machine(), 12).step, laplacian(fast, 12).step);
}

TEST_CASE("k-means on ranks with equally many points differs by its messages alone", "[ranks]") {
  const index_t each = 1 << 20;
  const RankPrediction one = predict_kmeans(machine(), clusters(64), points(each, 16), 1);
  for (const index_t ranks : {2, 64, 4096}) {
    const RankPrediction p = predict_kmeans(machine(), clusters(64), points(each * ranks, 16), ranks);
    CHECK(p.rows == each);
    CHECK(p.step.moved == one.step.moved);
    CHECK(p.step.flops == one.step.flops);
    CHECK(p.step.seconds() == Approx(one.step.seconds() + p.step.latency_seconds + p.step.network_seconds));
    CHECK(bytes_of(p, "points") == bytes_of(one, "points"));
    CHECK(bytes_of(p, "a number for each 4096 rows of all ranks") == static_cast<std::uint64_t>(each * ranks / 512));
  }
}

TEST_CASE("memory of ranks sums to that of one, but for what all have", "[ranks]") {
  const RankPrediction one = laplacian(machine(), 1), four = laplacian(machine(), 4);
  CHECK(four.rows == rows / 4);
  CHECK(4 * bytes_of(four, "basis") == bytes_of(one, "basis"));
  CHECK(4 * bytes_of(four, "blocks") == bytes_of(one, "blocks"));
  CHECK(4 * bytes_of(four, "matrix") == 2 * bytes_of(one, "matrix"));  // as read, and in local numbers of columns
  CHECK(bytes_of(one, "halo") == 0);
  CHECK(bytes_of(four, "halo") == 2 * 2 * 8 * plane * 8);  // a plane each way, in and out, 8 columns
}

TEST_CASE("a step of block Lanczos sends planes and the sums of units", "[ranks]") {
  const RankPrediction p = laplacian(machine(), 12);
  // Half of a basis of 2 * 20 + 32 -> max(72, 20 + 96): 58 columns; blocks of 8; 24 units.
  const double gathered = 24 * 8 * (8 + 64 + 2 * 8 * (58 + 8));
  CHECK(p.step.sent == Approx(2 * plane * 8 * 8 + gathered * 11 / 12));
  CHECK(p.step.messages == 1 + 4 * 4);
}

TEST_CASE("what breaks is told", "[ranks]") {
  const auto told = [](const RankPrediction& p, const std::string& part) {
    for (const std::string& limit : p.limits)
      if (limit.find(part) != std::string::npos) return true;
    return false;
  };
  const RankPrediction many = laplacian(machine(), 4096);
  CHECK(many.working == 24);
  CHECK(many.rows == laplacian(machine(), 24).rows);
  CHECK(told(many, "4072 of 4096 ranks have no rows"));
  CHECK(told(many, "at most 24 units"));
  CHECK(laplacian(machine(), 24).limits.empty());
  MachineModel small = machine();
  small.memory_bytes = 1e9;
  CHECK(told(laplacian(small, 2), "a rank needs"));
  const index_t wide = index_t{1} << 36;
  CHECK(told(predict_hermitian(machine(), plan_eigen(wide, 8, {}), {wide, 7 * wide, 8, 1}, 24), "32 bits"));
  CHECK(told(predict_kmeans(machine(), clusters(8), points(index_t{1} << 41, 4), 4096), "4096 broadcasts"));
  CHECK(told(predict_kmeans(machine(), clusters(2), points(3 * 4096, 4), 4), "1 of 4 ranks have no rows"));
  CHECK_THROWS_AS(laplacian(machine(), 0), Error);
}
