#include "tallskinny/app/tskmeans/plan.hpp"

#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"
#include "tallskinny/tests/support/message_of.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using tskmeans::Machine;
using tskmeans::place_points;
using tskmeans::Placement;

namespace {

constexpr std::uint64_t mega = std::uint64_t{1} << 20, giga = std::uint64_t{1} << 30;

/// What an HDF5 file with so many float32 points would say: a small file stands for it.
io::Description many_points(const test::TemporaryFolder& folder, index_t n, index_t d) {
  const std::string file = folder / "points.h5";
  io::OutputFile out(file);
  out.write("x", Matrix<float>::zeros(2, 3));
  out.commit();
  io::Description points = io::describe(io::parse_location(file));
  points.rows = n, points.cols = d, points.nonzeros = n * d;
  points.bytes = points.peak_bytes = static_cast<std::uint64_t>(n * d * 4);
  return points;
}

}  // namespace

TEST_CASE("the processor has its points in memory if they fit, else in two blocks", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const io::Description points = many_points(folder, index_t{1} << 26, 16);  // 4 GiB
  tskmeans::ProgramOptions o;
  const Placement whole = place_points(o, points, 8, {false, 16 * giga, 0});
  CHECK(whole.in_host);
  CHECK(whole.host_block == 0);
  CHECK(whole.device_uses.empty());
  const Placement blocks = place_points(o, points, 8, {false, 3 * giga, 0});
  CHECK_FALSE(blocks.in_host);
  CHECK(blocks.host_block == 256 * mega);
  CHECK(solvers::total_bytes(blocks.host_uses) <= 3 * giga);
  CHECK_THROWS_AS(place_points(o, points, 8, {false, giga / 2, 0}), Error);  // labels and bounds alone
  o.memory = 3 * giga;
  CHECK_FALSE(place_points(o, points, 8, {false, 16 * giga, 0}).in_host);
  o.kmeans.algorithm = solvers::KMeansAlgorithm::bisecting;
  CHECK(test::message_of([&] {
          (void)place_points(o, points, 8, {false, 16 * giga, 0});
        }).find("can be read in blocks") != std::string::npos);
}

TEST_CASE("a device has all points if they fit, and they pass through few blocks of the host", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const io::Description points = many_points(folder, index_t{1} << 26, 16);
  const tskmeans::ProgramOptions o;
  const Placement p = place_points(o, points, 8, {true, 2 * giga, 80 * giga});
  CHECK(p.on_device);
  CHECK_FALSE(p.in_host);
  CHECK(p.device_block == 64 * mega);
  CHECK(solvers::total_bytes(p.host_uses) <= 2 * giga);
  CHECK(solvers::total_bytes(p.device_uses) >= 4 * giga);
  CHECK(solvers::total_bytes(p.device_uses) <= 80 * giga);
  // Points, labels and first centres alone are 4.8 GiB; a pass makes lists of its rows beside them.
  CHECK_FALSE(place_points(o, points, 8, {true, 16 * giga, 6 * giga}).on_device);
}

TEST_CASE("points too many for a device pass by, from host memory if they fit there", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const io::Description points = many_points(folder, index_t{1} << 26, 16);
  tskmeans::ProgramOptions o;
  const Placement from_host = place_points(o, points, 8, {true, 16 * giga, 3 * giga});
  CHECK_FALSE(from_host.on_device);
  CHECK(from_host.in_host);
  CHECK(from_host.device_block == 64 * mega);
  CHECK(solvers::total_bytes(from_host.device_uses) <= 3 * giga);
  const Placement from_file = place_points(o, points, 8, {true, 2 * giga, 3 * giga});
  CHECK_FALSE(from_file.in_host);
  CHECK(from_file.device_block > 0);
  CHECK(solvers::total_bytes(from_file.host_uses) <= 2 * giga);

  SECTION("--memory limits the device, too") {
    o.memory = 2 * giga;
    const Placement limited = place_points(o, points, 8, {true, 16 * giga, 80 * giga});
    CHECK_FALSE(limited.on_device);
    CHECK_FALSE(limited.in_host);
    CHECK(solvers::total_bytes(limited.device_uses) <= 2 * giga);
    CHECK(solvers::total_bytes(limited.host_uses) <= 2 * giga);
  }
  SECTION("blocks shrink with the memory, down to a chunk of sums") {
    std::uint64_t before = 65 * mega;
    for (const std::uint64_t memory : {1200 * mega, 1100 * mega, 1050 * mega}) {
      const Placement small = place_points(o, points, 8, {true, 16 * giga, memory});
      CHECK(small.device_block <= before);
      CHECK(small.device_block >= 4096 * 16 * 4);
      CHECK(solvers::total_bytes(small.device_uses) <= memory);
      before = small.device_block;
    }
  }
  SECTION("starts that share the passes have labels each") {
    const auto labels = [&](int starts) {
      o.kmeans.n_init = starts;
      return place_points(o, points, 8, {true, 16 * giga, 4 * giga}).device_uses[1].bytes;
    };
    CHECK(labels(3) == 3 * labels(1));
  }
  SECTION("what cannot be had is refused before anything is read") {
    CHECK(test::message_of([&] {
            (void)place_points(o, points, 8, {true, 16 * giga, 100 * mega});
          }).find("on a GPU") != std::string::npos);
    o.kmeans.algorithm = solvers::KMeansAlgorithm::mini_batch;
    CHECK(test::message_of([&] {
            (void)place_points(o, points, 8, {true, 16 * giga, 3 * giga});
          }).find("in blocks") != std::string::npos);
    io::Description sparse = points;
    sparse.sparse = true;
    CHECK(test::message_of([&] {
            (void)place_points(o, sparse, 8, {true, 16 * giga, 80 * giga});
          }).find("--device cpu") != std::string::npos);
  }
}

TEST_CASE("points of files that are not read by rows go to a device by way of host memory", "[tskmeans]") {
  const test::TemporaryFolder folder;
  io::Description points = many_points(folder, 1000, 16);
  tskmeans::ProgramOptions o;
  o.read.transpose = true;
  const Placement p = place_points(o, points, 8, {true, giga, giga});
  CHECK(p.in_host);
  CHECK(p.on_device);
}
