#include "tallskinny/app/tskmeans/plan.hpp"
#include "tallskinny/app/tskmeans/input.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"
#include "tallskinny/tests/solvers/setup/streamed_points.hpp"
#include "tallskinny/tests/support/device.hpp"
#include "tallskinny/tests/support/process.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;
using namespace ts::test::streamed;
using solvers::Placement;
using solvers::RowOrigin;
using solvers::StreamedRows;
using tskmeans::place_points;

namespace {

constexpr std::uint64_t giga = std::uint64_t{1} << 30;

/// Description of an HDF5 file with so many float32 points, made from a small file.
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

void write(const std::string& file, const Matrix<float>& x) {
  io::OutputFile out(file);
  out.write("x", x);
  out.commit();
}

}  // namespace

TEST_CASE("the host and the device are limited by --memory", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const io::Description points = many_points(folder, index_t{1} << 26, 16);  // 4 GiB
  tskmeans::ProgramOptions o{.memory = 3 * giga};
  CHECK_FALSE(place_points(o, points, 8, {false, 16 * giga, 0}).in_host);
  o.memory = 2 * giga;
  const Placement limited = place_points(o, points, 8, {true, 16 * giga, 80 * giga});
  CHECK_FALSE(limited.on_device);
  CHECK_FALSE(limited.in_host);
  CHECK(solvers::total_bytes(limited.device_uses) <= 2 * giga);
  CHECK(solvers::total_bytes(limited.host_uses) <= 2 * giga);
}

TEST_CASE("what cannot be had is refused in words of the command line", "[tskmeans]") {
  const test::TemporaryFolder folder;
  io::Description points = many_points(folder, index_t{1} << 26, 16);
  tskmeans::ProgramOptions o;
  o.kmeans.algorithm = solvers::KMeansAlgorithm::bisecting;
  const auto refused = [&](const solvers::MachineMemory& where, const char* why) {
    CHECK(test::mentions(test::message_of([&] { (void)place_points(o, points, 8, where); }), why));
  };
  refused({false, 3 * giga, 0},
          "can be read in blocks, by --algorithm lloyd or --predict, without --transform; by two-level with --sample)");
  o.kmeans.algorithm = solvers::KMeansAlgorithm::mini_batch;
  refused({true, 16 * giga, 3 * giga},
          "(only --algorithm lloyd and --predict can send points in blocks, and two-level with --sample)");
  points.sparse = true;
  refused({true, 16 * giga, 80 * giga}, "--device cpu");
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

TEST_CASE("ranks work together where the algorithm is distributed and each has points", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const auto who = [&](const tskmeans::ProgramOptions& o, index_t rows, int ranks) {
    return tskmeans::who_works(o, many_points(folder, rows, 3), ranks).text();
  };
  tskmeans::ProgramOptions o;
  CHECK(who(o, 8193, 2) == "together");
  CHECK(who(o, 8192, 2) == "rank 0 alone: up to 8,192 points are too few to share");
  CHECK(who(o, 28672, 8) == "rank 0 alone: up to 28,672 points are too few to share");
  CHECK(who(o, 28673, 8) == "together");
  o.kmeans.algorithm = solvers::KMeansAlgorithm::mini_batch;
  CHECK(who(o, 100000, 8) == "together");
  o.kmeans.algorithm = solvers::KMeansAlgorithm::balanced;
  CHECK(who(o, 100000, 8) == "rank 0 alone: --algorithm balanced needs all points in one place");
  o.kmeans.algorithm = solvers::KMeansAlgorithm::lloyd;
  o.common.device = "cuda:1";
  CHECK(who(o, 100000, 8) == "together");
}

TEST_CASE("points pass by in blocks, from memory and from a file", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  const Matrix<float> x = points();
  write(file, x);
  check(RowOrigin::memory(Rows(x.cview())), {});
  check(tskmeans::origin_of(io::parse_location(file), {}), {});
}

TEST_CASE("points pass by in blocks on a device", "[tskmeans][gpu]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  const Matrix<float> x = points();
  write(file, x);
  check(RowOrigin::memory(Rows(x.cview())), test::device_stream());
  check(tskmeans::origin_of(io::parse_location(file), {}), test::device_stream());
  const solvers::DeviceRows there(test::device_stream(), tskmeans::origin_of(io::parse_location(file), {}),
                                  block_bytes);
  std::vector<double> row(d);
  for (const index_t i : {index_t{0}, index_t{4095}, index_t{4096}, n - 1}) {
    there.rows().load(i, row.data());
    CHECK(row[1] == static_cast<double>(i * d + 1));
  }
}

TEST_CASE("the first pass over a file looks for numbers that are not finite", "[tskmeans]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "x.h5";
  Matrix<float> x = points();
  x(9000, 3) = std::nanf("");
  io::OutputFile out(file);
  out.write("x", x);
  out.commit();
  const StreamedRows rows(tskmeans::origin_of(io::parse_location(file), {}), block_bytes);
  CHECK(test::mentions(test::message_of([&] { rows.for_each_block([](index_t, const Rows&) {}); }),
                       "row 9000, column 3"));
}
