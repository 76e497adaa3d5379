#include "tallskinny/solvers/setup/kmeans_plan.hpp"

#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using solvers::KMeansOptions;
using solvers::Placement;
using solvers::PointsShape;

namespace {

constexpr std::uint64_t mega = std::uint64_t{1} << 20, giga = std::uint64_t{1} << 30;

/// So many float32 points in a file that is read by rows.
PointsShape many_points(index_t n, index_t d) {
  return {"points.h5", n, d, n * d, DType::float32, static_cast<std::uint64_t>(n * d * 4), false, true};
}

Placement place_points(const KMeansOptions& options, const PointsShape& points, const solvers::MachineMemory& machine) {
  return solvers::place_points(options, {.threads = 2}, points, machine);
}

}  // namespace

TEST_CASE("the processor has its points in memory if they fit, else in two blocks", "[kmeans]") {
  const PointsShape points = many_points(index_t{1} << 26, 16);  // 4 GiB
  KMeansOptions o;
  const Placement whole = place_points(o, points, {false, 16 * giga, 0});
  CHECK(whole.in_host);
  CHECK(whole.host_block == 0);
  CHECK(whole.device_uses.empty());
  const Placement blocks = place_points(o, points, {false, 3 * giga, 0});
  CHECK_FALSE(blocks.in_host);
  CHECK(blocks.host_block == 256 * mega);
  CHECK(solvers::total_bytes(blocks.host_uses) <= 3 * giga);
  CHECK_THROWS_AS(place_points(o, points, {false, giga / 2, 0}), Error);  // labels and bounds alone
  o.algorithm = solvers::KMeansAlgorithm::bisecting;
  CHECK(test::mentions(test::message_of([&] {
                         (void)place_points(o, points, {false, 3 * giga, 0});
                       }),
                       "can be read in blocks"));
}

TEST_CASE("points to be labelled once pass by in small blocks, though they fit", "[kmeans]") {
  PointsShape points = many_points(index_t{1} << 26, 16);
  KMeansOptions o{.metric = solvers::KMeansMetric::cosine};
  const auto place = [&](const solvers::KMeansUses& uses) {
    return solvers::place_points(o, uses, points, {false, 16 * giga, 0});
  };
  const Placement once = place({.predicts = true});
  CHECK_FALSE(once.in_host);
  CHECK(once.host_block == 8 * mega);
  CHECK(solvers::total_bytes(once.host_uses) < giga / 2);  // labels, and no norms
  CHECK(place({.predicts = true, .verifies = true}).in_host);
  CHECK(place({.predicts = true, .measures = true}).in_host);
  CHECK(place({.predicts = true, .threads = 32}).host_block == 16 * mega);  // 4096 rows are 256 KiB
  CHECK(place({.predicts = true, .threads = 4096}).host_block == 256 * mega);
  const Placement by_device = solvers::place_points(o, {.predicts = true}, points, {true, 16 * giga, 80 * giga});
  CHECK_FALSE(by_device.on_device);
  CHECK_FALSE(by_device.in_host);
  CHECK(by_device.device_block == 64 * mega);
  CHECK(solvers::place_points(o, {.predicts = true, .verifies = true}, points, {true, 16 * giga, 80 * giga}).on_device);
  points.by_rows = false;
  CHECK(place({.predicts = true}).in_host);
}

TEST_CASE("a device has all points if they fit, and they pass through few blocks of the host", "[kmeans]") {
  const PointsShape points = many_points(index_t{1} << 26, 16);
  const KMeansOptions o;
  const Placement p = place_points(o, points, {true, 2 * giga, 80 * giga});
  CHECK(p.on_device);
  CHECK_FALSE(p.in_host);
  CHECK(p.device_block == 64 * mega);
  CHECK(solvers::total_bytes(p.host_uses) <= 2 * giga);
  CHECK(solvers::total_bytes(p.device_uses) >= 4 * giga);
  CHECK(solvers::total_bytes(p.device_uses) <= 80 * giga);
  // Points, labels and first centres alone are 4.8 GiB; a pass makes lists of its rows beside them.
  CHECK_FALSE(place_points(o, points, {true, 16 * giga, 6 * giga}).on_device);
}

TEST_CASE("points too many for a device pass by, from host memory if they fit there", "[kmeans]") {
  const PointsShape points = many_points(index_t{1} << 26, 16);
  KMeansOptions o;
  const Placement from_host = place_points(o, points, {true, 16 * giga, 3 * giga});
  CHECK_FALSE(from_host.on_device);
  CHECK(from_host.in_host);
  CHECK(from_host.device_block == 64 * mega);
  CHECK(solvers::total_bytes(from_host.device_uses) <= 3 * giga);
  const Placement from_file = place_points(o, points, {true, 2 * giga, 3 * giga});
  CHECK_FALSE(from_file.in_host);
  CHECK(from_file.device_block > 0);
  CHECK(solvers::total_bytes(from_file.host_uses) <= 2 * giga);

  SECTION("blocks shrink with the memory, down to a chunk of sums") {
    std::uint64_t before = 65 * mega;
    for (const std::uint64_t memory : {1400 * mega, 1300 * mega, 1200 * mega}) {
      const Placement small = place_points(o, points, {true, 16 * giga, memory});
      CHECK(small.device_block <= before);
      CHECK(small.device_block >= 4096 * 16 * 4);
      CHECK(solvers::total_bytes(small.device_uses) <= memory);
      before = small.device_block;
    }
  }
  SECTION("starts that share the passes have labels each") {
    const auto labels = [&](int starts) {
      o.n_init = starts;
      return place_points(o, points, {true, 16 * giga, 4 * giga}).device_uses[1].bytes;
    };
    CHECK(labels(3) == 3 * labels(1));
  }
  SECTION("what cannot be had is refused before anything is read") {
    CHECK(test::mentions(test::message_of([&] {
                           (void)place_points(o, points, {true, 16 * giga, 100 * mega});
                         }),
                         "on a GPU"));
    o.algorithm = solvers::KMeansAlgorithm::mini_batch;
    CHECK(test::mentions(test::message_of([&] {
                           (void)place_points(o, points, {true, 16 * giga, 3 * giga});
                         }),
                         "in blocks"));
    PointsShape sparse = points;
    sparse.sparse = true;
    CHECK(test::mentions(test::message_of([&] {
                           (void)place_points(o, sparse, {true, 16 * giga, 80 * giga});
                         }),
                         "on the processor only"));
  }
}

TEST_CASE("points of files that are not read by rows go to a device by way of host memory", "[kmeans]") {
  PointsShape points = many_points(1000, 16);
  points.by_rows = false;
  const Placement p = place_points({}, points, {true, giga, giga});
  CHECK(p.in_host);
  CHECK(p.on_device);
}

TEST_CASE("points are where their placement says", "[kmeans]") {
  const Matrix<float> x = Matrix<float>::zeros(9000, 3);
  const auto read = [&] { return solvers::RowOrigin::memory(Rows(x.cview())); };
  const solvers::PlacedRows whole({}, Rows(x.cview()), read, {});
  CHECK(whole.streamed() == nullptr);
  CHECK(whole.here().in_memory());
  CHECK(&whole.to_iterate() == &whole.here());
  Placement blocks{.in_host = false, .host_block = 4096 * 3 * 4};
  const solvers::PlacedRows streamed(blocks, std::nullopt, read, {});
  REQUIRE(streamed.streamed() != nullptr);
  CHECK(streamed.streamed()->block_rows() == 4096);
  CHECK(streamed.here().rows() == 9000);
}
