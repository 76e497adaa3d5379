#include <iostream>
#include <map>
#include <tuple>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/app/tsbench/results_file.hpp"
#include "tallskinny/app/tsbench/scaling_measure.hpp"
#include "tallskinny/app/tsbench/words.hpp"
#include "tallskinny/gemm/plan/processor_info.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

struct Wish {
  std::string device = "auto", rows, widths = "8,16,64", types = "float64,float32", json_file;
  int most = 0;
  bool strong = false;
  ScalingRequest request{.gpu = false, .threads = 1, .turns = 15, .log = {}};
};

bool parse_wish(Wish& wish, app::Arguments arguments) {
  app::Options options(
      {"tsbench scaling",
       "Measures A^H B with the rows of A and B distributed over 1, 2, 4 ... ranks of this process.",
       "[options]",
       {{"all GPUs, as many rows for each", "tsbench scaling --json scaling.json"},
        {"two ranks of one thread each, the same rows for both", "tsbench scaling --device cpu --most 2 --strong"}},
       "A rank has a GPU of its own, and NCCL between them, or some threads of the processor. Seconds are the median "
       "of turns, in each of which what is compared takes its turn; the slowest rank counts, by events of its GPU's "
       "stream after all have met, or by the clock. Small operands stay in the caches. eff% is the efficiency "
       "beside one rank at the same level of determinism. plain is the product of the rows of each rank alone, then "
       "an all-reduce of as many bytes as C has; cost% what gpu_to_gpu takes more than that. gathers: 4 all-gathers "
       "of what gpu_to_gpu gathers, as a step of block Lanczos has. Before it is timed a result is checked in twice "
       "float64's precision (err, relative to the bound), and at gpu_to_gpu for the bits of one rank. Exit code 1 "
       "when one was wrong."});
  options
      .custom("device", "NAME", wish.device, "auto, cpu or cuda", "auto, cpu or cuda",
              [&wish](std::string_view text) {
                wish.device = text;
                return text == "auto" || text == "cpu" || text == "cuda";
              })
      .value("most", "P", wish.most, "ranks in the last lines; 0: as many as GPUs, or 2 on the processor",
             app::between(0, static_cast<int>(most_row_units)))
      .value("rows", "LIST", wish.rows,
             "rows of each rank, comma-separated; 16777216,262144,4096 unless given, 1048576,4096 on the processor")
      .flag("strong", wish.strong, "the rows are those of all ranks together, whatever their number")
      .value("types", "LIST", wish.types, "element types, comma-separated")
      .value("widths", "LIST", wish.widths, "widths: 8 for both operands, 16x4 for p and q")
      .value("threads", "N", wish.request.threads, "of a rank on the processor", app::at_least(1))
      .value("turns", "N", wish.request.turns, "of everything that is compared", app::between(1, 1000))
      .value("json", "FILE", wish.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", wish.json_file}});
  return true;
}

std::vector<index_t> parse_rows(const std::string& list) {
  std::vector<index_t> rows;
  for (const std::string& text : split_list(list)) {
    index_t n = 0;
    if (!app::parse_value(text, n) || n < 1)
      throw Error(Errc::invalid_argument, "--rows: expected numbers of rows, comma-separated, instead of " + text);
    rows.push_back(n);
  }
  expects(!rows.empty(), "--rows: expected numbers of rows, comma-separated");
  return rows;
}

std::vector<ScalingCase> cases_of(const Wish& wish, int ranks) {
  std::vector<ScalingCase> cases;
  for (const std::string& type : split_list(wish.types))
    for (const index_t n : parse_rows(wish.rows))
      for (const Shape s : parse_widths(wish.widths))
        cases.push_back({parse_dtype(type), s, wish.strong ? n : n * ranks});
  return cases;
}

/// What one rank took, by type, widths and rows of a rank in weak scaling.
using Key = std::tuple<DType, index_t, index_t, index_t>;

class Table {
 public:
  Table(bool strong, ResultsFile& results) : strong_(strong), results_(results) {
    std::cout << "type       p    q       rows  ranks  run_to_run us   eff%  gpu_to_gpu us   eff%   plain us   cost%"
                 "  4 gathers us    err  bits\n";
  }
  void add(const ScalingMeasured& m) {
    const ScalingCase& c = m.what;
    const Key key{c.type, c.widths.p, c.widths.q, strong_ ? c.rows : c.rows / m.ranks};
    if (m.ranks == 1) one_[key] = m;
    const double share = strong_ ? m.ranks : 1;
    const auto efficiency = [&](double ScalingMeasured::*seconds) {
      return 100 * one_[key].*seconds / (share * (m.*seconds));
    };
    const double cost = 100 * (m.gpu_to_gpu / m.plain - 1);
    std::cout << format("%-9s %3lld  %3lld %10lld  %5d", std::string(name_of(c.type)).c_str(),
                        static_cast<long long>(c.widths.p), static_cast<long long>(c.widths.q),
                        static_cast<long long>(c.rows), m.ranks);
    if (m.right())
      std::cout << format("  %13.2f %6.1f  %13.2f %6.1f %10.2f %7.1f  %12.2f", m.run_to_run * 1e6,
                          efficiency(&ScalingMeasured::run_to_run), m.gpu_to_gpu * 1e6,
                          efficiency(&ScalingMeasured::gpu_to_gpu), m.plain * 1e6, cost, m.gathers * 1e6);
    std::cout << format("%7.0e  %s", m.worst_error, m.same_bits ? "same" : "DIFFER")
              << (m.right() ? "" : "  WRONG, not timed") << std::endl;
    app::JsonObject json;
    json.add("type", name_of(c.type)).add("p", c.widths.p).add("q", c.widths.q).add("rows", c.rows);
    json.add("ranks", m.ranks).add("error_over_bound", m.worst_error).add("same_bits", m.same_bits);
    if (m.right()) {
      json.add("run_to_run_seconds", m.run_to_run).add("gpu_to_gpu_seconds", m.gpu_to_gpu);
      json.add("plain_seconds", m.plain).add("four_gathers_seconds", m.gathers);
    }
    results_.add(json);
    right_ = right_ && m.right();
  }
  [[nodiscard]] bool right() const noexcept { return right_; }

 private:
  bool strong_, right_ = true;
  ResultsFile& results_;
  std::map<Key, ScalingMeasured> one_;
};

}  // namespace

int scaling_command(app::Arguments arguments) {
  Wish wish;
  if (!parse_wish(wish, arguments)) return app::exit_ok;
  const cuda::DeviceList found = cuda::list_devices();
  if (wish.device == "cuda") (void)app::resolve_device("cuda");  // says why there is none
  wish.request.gpu = wish.device == "cuda" || (wish.device == "auto" && !found.devices.empty());
  if (wish.most == 0) wish.most = wish.request.gpu ? static_cast<int>(found.devices.size()) : 2;
  if (wish.rows.empty()) wish.rows = wish.request.gpu ? "16777216,262144,4096" : "1048576,4096";
  app::Console console("tsbench", false);
  wish.request.log = [&console](std::string_view line) { console.note(line); };
  const std::string device = wish.request.gpu ? found.devices.front().name : this_cpu().name;

  ResultsFile results(wish.json_file);
  app::JsonObject header;
  header.add("date", utc_now())
      .add("commit", commit())
      .add("device", device)
      .add("scaling", wish.strong ? "strong" : "weak");
  header.add("turns", wish.request.turns);
  results.set_header(header);
  std::cout << device << ", " << utc_now() << ", commit " << commit() << ", "
            << (wish.strong ? "the same rows for any number of ranks" : "as many rows for each rank") << '\n';
  Table table(wish.strong, results);
  for (int ranks = 1;; ranks = std::min(2 * ranks, wish.most)) {
    const ScalingRequest& request = wish.request;
    const std::vector<ScalingCase> cases = cases_of(wish, ranks);
    if (!request.gpu)
      solvers::expect_memory(
          "the benchmark", {{"operands of all ranks", static_cast<std::uint64_t>(ranks) * scaling_bytes(cases, ranks)}},
          app::available_memory());
    measure_scaling(request, ranks, cases, [&](const ScalingMeasured& m) { table.add(m); });
    if (ranks == wish.most || app::stop_requested()) break;
  }
  results.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return table.right() ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
