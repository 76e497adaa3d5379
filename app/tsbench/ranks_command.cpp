#include <cmath>
#include <iostream>

#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/rank_prediction.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/words.hpp"

namespace ts::bench {

namespace {

struct Wish {
  std::string what, machine, type = "float16";
  index_t rows = 1'000'000'000'000, cols = 16, clusters = 64;
  index_t grid = 4096, nev = 20;
  index_t most = 4096;
  bool weak = false;
};

solvers::RankPrediction kmeans_on(const solvers::MachineModel& machine, const Wish& wish, index_t ranks) {
  solvers::PointsShape points;
  points.name = "points", points.type = parse_dtype(wish.type), points.by_rows = true;
  points.rows = wish.weak ? wish.rows / wish.most * ranks : wish.rows, points.cols = wish.cols;
  points.nonzeros = points.rows * points.cols;
  points.bytes = static_cast<std::uint64_t>(points.nonzeros) * static_cast<std::uint64_t>(size_of(points.type));
  solvers::KMeansOptions options;
  options.clusters = wish.clusters;
  return solvers::predict_kmeans(machine, options, points, ranks);
}

solvers::RankPrediction laplacian_on(const solvers::MachineModel& machine, const Wish& wish, index_t ranks) {
  const index_t whole = wish.grid * wish.grid * wish.grid, n = wish.weak ? whole / wish.most * ranks : whole;
  solvers::EigenOptions options;
  options.nev = wish.nev, options.which = solvers::Which::SA;
  return solvers::predict_hermitian(machine, solvers::plan_eigen(n, 8, options),
                                    {n, 7 * n, 8, solvers::halo_of_grid(n)}, ranks);
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

void print_row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) std::cout << padded(cell, 11);
  std::cout << '\n';
}

std::string bytes_text(double bytes) { return app::human_bytes(static_cast<std::uint64_t>(bytes)); }

}  // namespace

int ranks_command(app::Arguments arguments) {
  Wish wish;
  app::Options options(
      {"tsbench ranks",
       "What runs on many ranks would take, by the model of --dry-run --ranks: nothing is read or started.",
       "kmeans|lap3d --machine FILE.json [options]",
       {{"10^12 points on up to 4096 GPUs", "tsbench ranks kmeans --machine data/machines/h100-cluster.json"},
        {"as many rows for each rank, whatever their number",
         "tsbench ranks lap3d --grid 4096 --machine data/machines/cpu-cluster.json --weak"}},
       "Columns: ranks, those of them with rows, the seconds of a step, of its work in memory or arithmetic, of "
       "latency "
       "and of the network, what a rank moves and sends in it, the memory of a rank, and the seconds of the whole run "
       "with reading and writing. ! marks what does not fit into the memory of a rank."});
  options.positional("WHAT", wish.what, "kmeans: Lloyd's iteration; lap3d: block Lanczos for the Laplacian of a grid")
      .custom("machine", "FILE.json", "", "the machine, like those in data/machines", "a file name",
              [&wish](std::string_view text) { return app::parse_value(text, wish.machine); })
      .value("most", "P", wish.most, "ranks in the last line; the others have 1, 2, 4 and so on",
             app::at_least<index_t>(1))
      .flag("weak", wish.weak, "the sizes are those of the last line, and each rank has as many rows in all of them")
      .group("kmeans")
      .value("rows", "N", wish.rows, "points", app::at_least<index_t>(1))
      .value("cols", "N", wish.cols, "features", app::at_least<index_t>(1))
      .value("type", "TYPE", wish.type, "of the features")
      .value("n-clusters,k", "N", wish.clusters, "clusters", app::at_least<index_t>(1))
      .group("lap3d")
      .value("grid", "N", wish.grid, "points of the grid each way", app::at_least<index_t>(1))
      .value("nev", "N", wish.nev, "eigenvalues", app::at_least<index_t>(1));
  if (!options.parse(arguments)) return app::exit_ok;
  expects(wish.what == "kmeans" || wish.what == "lap3d", "tsbench ranks: WHAT is kmeans or lap3d");
  expects(!wish.machine.empty(), "tsbench ranks needs --machine FILE.json");
  expects(wish.grid <= 2'000'000, "--grid: more than 2,000,000 points each way are beyond 64-bit numbers of rows");
  const solvers::MachineModel machine = app::read_machine(wish.machine);
  std::cout << machine.name << ", " << (wish.weak ? "as many rows for each rank" : "the same rows for all") << '\n';
  print_row({"ranks", "with rows", "step s", "work s", "latency s", "network s", "moves", "sends", "memory", "run s"});
  std::vector<std::string> limits;
  for (index_t ranks = 1;; ranks = std::min(2 * ranks, wish.most)) {
    const solvers::RankPrediction p =
        wish.what == "kmeans" ? kmeans_on(machine, wish, ranks) : laplacian_on(machine, wish, ranks);
    const double work = std::max(p.step.memory_seconds, p.step.arithmetic_seconds);
    const auto memory = static_cast<double>(solvers::total_bytes(p.memory));
    const auto seconds = [](double value) { return app::short_number(value, 3); };
    print_row({app::grouped(ranks), app::grouped(p.working), seconds(p.step.seconds()), seconds(work),
               seconds(p.step.latency_seconds), seconds(p.step.network_seconds), bytes_text(p.step.moved),
               bytes_text(p.step.sent), bytes_text(memory) + (memory > machine.memory_bytes ? "!" : ""),
               seconds(p.seconds())});
    limits = p.limits;
    if (ranks == wish.most) break;
  }
  for (const std::string& limit : limits) std::cout << "limit of the last line: " << limit << '\n';
  return app::exit_ok;
}

}  // namespace ts::bench
