#include "tallskinny/app/tsbench/gpu_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "tallskinny/app/tsbench/gpu_peers.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/backend/cuda/compile.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::bench {

namespace {

void row(std::ostream& out, const std::array<std::string, 12>& cells) {
  static constexpr std::array<int, 12> widths = {15, 11, 6, 5, 12, 11, 7, 7, 9, 8, 8, 6};
  for (std::size_t c = 0; c < cells.size(); ++c)
    out << (c < 2 ? std::left : std::right) << std::setw(widths[c]) << cells[c];
  out << '\n';
}

double vendor_ratio(const GpuMeasured& m) {
  return m.best_peer.name.empty() ? 0 : m.best_peer.timing.median / m.ours.median;
}

}  // namespace

void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& d) {
  out << d.name << ": read " << format("%.3f", d.read_bytes_per_second * 1e-12) << " TB/s, copy "
      << format("%.3f", d.copy_bytes_per_second * 1e-12) << " TB/s, float64 "
      << format("%.1f", d.float64_flops * 1e-12) << ", float64 tensor "
      << format("%.1f", d.float64_tensor_flops * 1e-12) << ", float32 "
      << format("%.1f", d.float32_flops * 1e-12) << ", TF32 tensor "
      << format("%.0f", d.tf32_tensor_flops * 1e-12) << ", float16 tensor "
      << format("%.0f", d.half_tensor_flops * 1e-12) << " TFLOP/s\n";
}

void print_gpu_header(std::ostream& out) {
  row(out,
      {"operation", "type", "p", "q", "rows", "us", "TB/s", "roof%", "vendor", "/vendor", "err", "bits"});
}

void print_gpu_row(std::ostream& out, const GpuMeasured& m) {
  const Problem& p = m.problem;
  std::array<std::string, 12> cells = {std::string(name_of(p.operation)), std::string(name_of(p.type)),
                                       std::to_string(p.p), std::to_string(p.q), std::to_string(p.n)};
  cells[10] = format("%.1e", m.worst_error);
  if (!m.right) {
    cells[5] = "WRONG";
  } else {
    cells[5] = format("%.1f", m.ours.median * 1e6);
    cells[6] = format("%.3f", m.bytes_per_second() * 1e-12);
    cells[7] = format("%.1f%s", 100 * m.roof_share(), m.bound == Bound::arithmetic ? "a" : "");
    cells[8] = m.best_peer.name.empty() ? "-" : m.best_peer.name;
    cells[9] = m.best_peer.name.empty() ? "-" : format("%.2f", vendor_ratio(m));
    cells[11] = m.same_bits ? "same" : "DIFFER";
  }
  row(out, cells);
  out.flush();
}

void print_gpu_summary(std::ostream& out, const std::vector<GpuMeasured>& all) {
  double least_share = HUGE_VAL, log_share = 0, least_ratio = HUGE_VAL, log_ratio = 0;
  int cases = 0, against = 0, wrong = 0, differ = 0;
  for (const GpuMeasured& m : all) {
    wrong += !m.right, differ += !m.same_bits;
    if (!m.right) continue;
    ++cases;
    least_share = std::min(least_share, m.roof_share()), log_share += std::log(m.roof_share());
    if (m.best_peer.name.empty()) continue;
    ++against;
    least_ratio = std::min(least_ratio, vendor_ratio(m)), log_ratio += std::log(vendor_ratio(m));
  }
  out << cases << " cases right, " << wrong << " wrong, " << differ << " not repeated bit by bit";
  if (cases > 0)
    out << "; share of the roof: mean " << format("%.1f", 100 * std::exp(log_share / cases)) << " %, least "
        << format("%.1f", 100 * least_share) << " %";
  if (against > 0)
    out << "; times faster than the vendor's best: mean " << format("%.2f", std::exp(log_ratio / against))
        << ", least " << format("%.2f", least_ratio);
  out << '\n';
}

app::JsonObject json_of(const GpuMeasured& m) {
  app::JsonObject json = json_of(m.problem);
  json.add("kernel", m.kernel).add("right", m.right).add("error_over_bound", m.worst_error);
  json.add("same_bits", m.same_bits);
  if (!m.right) return json;
  json.add("best_seconds", m.ours.best)
      .add("median_seconds", m.ours.median)
      .add("bytes_per_second", m.bytes_per_second())
      .add("flops_per_second", m.cost.flops / m.ours.median)
      .add("roof_share", m.roof_share())
      .add("bound", name_of(m.bound));
  if (m.graph_seconds > 0) json.add("graph_seconds", m.graph_seconds);
  if (!m.best_peer.name.empty())
    json.add("vendor_routine", m.best_peer.name)
        .add("vendor_seconds", m.best_peer.timing.median)
        .add("times_vendor", vendor_ratio(m));
  return json;
}

app::JsonObject json_of_gpu_run(const cuda::DeviceInfo& d, std::int64_t bytes) {
  app::JsonObject json;
  json.add("device", d.name)
      .add("capability", d.capability())
      .add("multiprocessors", d.multiprocessors)
      .add("date", utc_now())
      .add("commit", commit())
      .add("nvrtc", cuda::compiler_version())
      .add("cublas", cublas_version())
      .add("bytes", bytes)
      .add("read_bytes_per_second", d.read_bytes_per_second)
      .add("copy_bytes_per_second", d.copy_bytes_per_second)
      .add("float64_flops", d.float64_flops)
      .add("float64_tensor_flops", d.float64_tensor_flops)
      .add("float32_flops", d.float32_flops)
      .add("tf32_tensor_flops", d.tf32_tensor_flops)
      .add("half_tensor_flops", d.half_tensor_flops);
  return json;
}

}  // namespace ts::bench
