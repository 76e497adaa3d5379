#include "tallskinny/app/tsbench/gpu/report.hpp"

#include <array>
#include <iomanip>
#include <ostream>

#include "tallskinny/app/tsbench/gpu/peers.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"

namespace ts::bench {

namespace {

void row(std::ostream& out, const std::array<std::string, 16>& cells) {
  static constexpr std::array<int, 16> widths = {14, 11, 9, 6, 5, 10, 10, 10, 7, 8, 8, 8, 8, 7, 8, 5};
  for (std::size_t c = 0; c < cells.size(); ++c)
    out << (c < 3 ? std::left : std::right) << std::setw(widths[c]) << cells[c];
  out << '\n';
}

std::string joules_text(double joules) {
  return joules > 0 ? format("%.3f", joules) : "-";
}

}  // namespace

void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& d) {
  out << d.name << ", " << utc_now() << ", commit " << commit() << ": read "
      << format("%.3f", d.read_bytes_per_second * 1e-12) << " TB/s, copy "
      << format("%.3f", d.copy_bytes_per_second * 1e-12) << " TB/s, float64 "
      << format("%.1f", d.float64_flops * 1e-12) << ", float64 tensor "
      << format("%.1f", d.float64_tensor_flops * 1e-12) << ", float32 "
      << format("%.1f", d.float32_flops * 1e-12) << ", TF32 tensor "
      << format("%.0f", d.tf32_tensor_flops * 1e-12) << ", float16 tensor "
      << format("%.0f", d.half_tensor_flops * 1e-12) << " TFLOP/s\n";
}

void print_gpu_header(std::ostream& out) {
  row(out, {"operation", "type", "form", "p", "q", "rows", "us", "graph us", "TB/s", "roof%", "vendor",
            "/vendor", "J", "/J", "err", "bits"});
}

void print_gpu_row(std::ostream& out, const GpuMeasured& m) {
  const Problem& p = m.described.problem;
  std::array<std::string, 16> cells = {std::string(name_of(p.operation)),
                                       std::string(name_of(p.type)),
                                       m.described.form(),
                                       std::to_string(p.p),
                                       std::to_string(p.q),
                                       std::to_string(p.n)};
  cells[14] = format("%.0e", m.worst_error);
  if (!m.right) {
    cells[6] = "WRONG";
  } else {
    cells[6] = format("%.1f", m.ours.median * 1e6);
    cells[7] = format("%.1f", m.graph_seconds * 1e6);
    cells[8] = format("%.3f", m.bytes_per_second() * 1e-12);
    cells[9] = format("%.1f%s", 100 * m.roof_share(), m.bound == Bound::arithmetic ? "a" : "");
    if (m.sector_share() > 0) cells[9] += format("|%.0f", 100 * m.sector_share());
    cells[10] = m.vendor.empty() ? "-" : m.vendor;
    cells[11] = m.vendor.empty() ? "-" : format("%.2f", m.vendor_ratio());
    cells[12] = joules_text(m.joules);
    cells[13] = m.joules > 0 && m.vendor_joules > 0 ? format("%.2f", m.vendor_joules / m.joules) : "-";
    cells[15] = m.same_bits ? "same" : "DIFF";
  }
  row(out, cells);
  out.flush();
}

app::JsonObject json_of(const GpuMeasured& m) {
  app::JsonObject json = json_of(m.described.problem);
  json.add("table", m.described.table).add("form", m.described.form());
  json.add("kernel", m.kernel).add("right", m.right).add("error_over_bound", m.worst_error);
  json.add("same_bits", m.same_bits);
  if (!m.right) return json;
  json.add("best_seconds", m.ours.best)
      .add("median_seconds", m.ours.median)
      .add("graph_seconds", m.graph_seconds)
      .add("bytes_per_second", m.bytes_per_second())
      .add("flops_per_second", m.cost.flops / m.ours.median)
      .add("roof_share", m.roof_share())
      .add("bound", name_of(m.bound));
  if (m.sector_share() > 0) json.add("sector_share", m.sector_share());
  if (m.joules > 0) json.add("joules", m.joules);
  if (m.vendor.empty()) return json;
  json.add("vendor_routine", m.vendor)
      .add("vendor_seconds", m.vendor_timing.median)
      .add("times_vendor", m.vendor_ratio());
  if (m.vendor_joules > 0) json.add("vendor_joules", m.vendor_joules);
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
      .add("vendor", vendor_versions())
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
