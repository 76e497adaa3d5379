#include "tallskinny/app/tsbench/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "tallskinny/app/tsbench/peers.hpp"

namespace ts::bench {

namespace {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string ratio(const Timing& peer, const Timing& ours) {
  return peer.best > 0 ? fixed(peer.best / ours.best, 2) : "";
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

namespace {

void row(std::ostream& out, const std::array<std::string, 11>& cells) {
  static constexpr std::array<int, 11> widths = {15, 11, 5, 5, 10, 10, 8, 7, 11, 9, 10};
  for (std::size_t c = 0; c < cells.size(); ++c)
    out << (c < 2 ? std::left : std::right) << std::setw(widths[c]) << cells[c];
  out << '\n';
}

}  // namespace

void print_header(std::ostream& out) {
  row(out, {"operation", "type", "p", "q", "rows", "ms", "GB/s", "roof%", "bound", "/Eigen", "/OpenBLAS"});
}

void print_row(std::ostream& out, const Measured& m) {
  const Problem& p = m.plan.problem;
  std::array<std::string, 11> cells = {std::string(name_of(p.operation)), std::string(name_of(p.type)),
                                       std::to_string(p.p), std::to_string(p.q), std::to_string(p.n)};
  if (m.refused) {
    cells[5] = "WRONG";
  } else {
    cells[5] = fixed(m.ours.best * 1e3, 2);
    cells[6] = fixed(m.bytes_per_second() * 1e-9, 1);
    cells[7] = fixed(100 * m.roof_share(), 0);
    cells[8] = name_of(m.plan.bound);
    cells[9] = ratio(m.eigen, m.ours);
    cells[10] = ratio(m.openblas, m.ours);
  }
  row(out, cells);
  out.flush();
}

app::JsonObject json_of(const Problem& p) {
  app::JsonObject json;
  json.add("operation", name_of(p.operation))
      .add("type", name_of(p.type))
      .add("n", p.n)
      .add("p", p.p)
      .add("q", p.q);
  if (p.operation == Operation::spmm) json.add("nonzeros", p.nonzeros);
  return json;
}

app::JsonObject json_of(const Measured& m) {
  app::JsonObject json = json_of(m.plan.problem);
  json.add("right", !m.refused).add("error_over_bound", m.worst_error);
  if (m.refused) return json;
  json.add("best_seconds", m.ours.best)
      .add("median_seconds", m.ours.median)
      .add("bytes_per_second", m.bytes_per_second())
      .add("flops_per_second", m.plan.cost.flops / m.ours.best)
      .add("roof_share", m.roof_share())
      .add("predicted_seconds", m.plan.seconds)
      .add("bound", name_of(m.plan.bound))
      .add("read_roof", m.roofs.read_bytes_per_second)
      .add("copy_roof", m.roofs.copy_bytes_per_second)
      .add("float64_flops_roof", m.roofs.float64_flops)
      .add("float32_flops_roof", m.roofs.float32_flops);
  const auto peer = [&](const char* seconds, const char* over, const Timing& timing) {
    if (timing.best <= 0) return;
    json.add(seconds, timing.best).add(over, timing.best / m.ours.best);
  };
  peer("eigen_seconds", "times_eigen", m.eigen);
  peer("openblas_seconds", "times_openblas", m.openblas);
  return json;
}

std::string_view commit() {
  return TS_COMMIT;
}

app::JsonObject json_of_run(const Effort& effort, std::int64_t bytes, const Roofs& best) {
  const DeviceInfo& cpu = this_cpu();
  app::JsonObject json;
  json.add("device", cpu.name)
      .add("threads", effort.threads > 0 ? effort.threads : cpu.threads)
      .add("simd", name_of(effort.simd == Simd::best ? cpu.simd : effort.simd))
      .add("date", utc_now())
      .add("commit", commit())
      .add("compiler", TS_COMPILER)
      .add("eigen", eigen_version())
      .add("openblas", openblas_version())
      .add("bytes", bytes)
      .add("repetitions", effort.repetitions)
      .add("read_bytes_per_second", best.read_bytes_per_second)
      .add("copy_bytes_per_second", best.copy_bytes_per_second)
      .add("float64_flops", best.float64_flops)
      .add("float32_flops", best.float32_flops);
  return json;
}

}  // namespace ts::bench
