#include "tallskinny/app/tsbench/report.hpp"

#include <iomanip>
#include <ostream>

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"

namespace ts::bench {

namespace {

using M = const Measured&;

struct Column {
  const char* title;
  int width;
  bool left, of_wrong_results;  ///< of_wrong_results: told of these, too
  std::string (*text)(M);
};

std::string times_text(M m, std::string_view library, const char* none) {
  return m.peer(library) == nullptr ? none : format("%.2f", m.times(library));
}
std::string share_text(M m) {
  std::string text = format("%.1f%s", 100 * m.roof_share(), m.bound == Bound::arithmetic ? "a" : "");
  if (m.sector_share() > 0) text += format("|%.0f", 100 * m.sector_share());
  return text;
}
std::string vendor_text(M m) {
  const PeerTiming* const vendor = m.peer("vendor");
  return vendor == nullptr ? "-" : vendor->way;
}
std::string operation_text(M m) { return std::string(name_of(m.described.problem.operation)); }
std::string type_text(M m) { return std::string(name_of(m.described.problem.type)); }
std::string p_text(M m) { return std::to_string(m.described.problem.p); }
std::string q_text(M m) { return std::to_string(m.described.problem.q); }
std::string rows_text(M m) { return std::to_string(m.described.problem.n); }
std::string milliseconds_text(M m) { return m.right ? format("%.2f", m.seconds() * 1e3) : "WRONG"; }
std::string microseconds_text(M m) { return m.right ? format("%.1f", m.seconds() * 1e6) : "WRONG"; }

constexpr Column host_columns[] = {
    {"operation", 15, true, true, operation_text},
    {"type", 11, true, true, type_text},
    {"p", 5, false, true, p_text},
    {"q", 5, false, true, q_text},
    {"rows", 10, false, true, rows_text},
    {"ms", 10, false, true, milliseconds_text},
    {"GB/s", 8, false, false, [](M m) { return format("%.1f", m.bytes_per_second() * 1e-9); }},
    {"roof%", 7, false, false, [](M m) { return format("%.0f", 100 * m.roof_share()); }},
    {"bound", 11, false, false, [](M m) { return std::string(name_of(m.bound)); }},
    {"/Eigen", 9, false, false, [](M m) { return times_text(m, "eigen", ""); }},
    {"/OpenBLAS", 10, false, false, [](M m) { return times_text(m, "openblas", ""); }}};

constexpr Column gpu_columns[] = {
    {"operation", 14, true, true, operation_text},
    {"type", 11, true, true, type_text},
    {"form", 9, true, true, [](M m) { return m.described.form(); }},
    {"p", 6, false, true, p_text},
    {"q", 5, false, true, q_text},
    {"rows", 10, false, true, rows_text},
    {"us", 10, false, true, microseconds_text},
    {"graph us", 10, false, false, [](M m) { return format("%.1f", m.graph_seconds * 1e6); }},
    {"TB/s", 7, false, false, [](M m) { return format("%.3f", m.bytes_per_second() * 1e-12); }},
    {"roof%", 8, false, false, share_text},
    {"vendor", 8, false, false, vendor_text},
    {"/vendor", 8, false, false, [](M m) { return times_text(m, "vendor", "-"); }},
    {"err", 8, false, true, [](M m) { return format("%.0e", m.worst_error); }},
    {"bits", 5, false, false, [](M m) { return std::string(m.same_bits ? "same" : "DIFF"); }}};

std::span<const Column> columns_of(Space place) {
  if (place == Space::host) return host_columns;
  return gpu_columns;
}

void print_cell(std::ostream& out, const Column& column, std::string_view text) {
  out << (column.left ? std::left : std::right) << std::setw(column.width) << text;
}

}  // namespace

void print_header(std::ostream& out, Space place) {
  for (const Column& column : columns_of(place)) print_cell(out, column, column.title);
  out << '\n';
}

void print_row(std::ostream& out, const Measured& m) {
  for (const Column& column : columns_of(m.place))
    print_cell(out, column, m.right || column.of_wrong_results ? column.text(m) : "");
  out << '\n';
  for (const CandidateTiming& c : m.candidates)
    out << format("    %10.1f us, predicted %.1f, /vendor %.2f%s%s  %s\n", c.seconds * 1e6, c.predicted * 1e6,
                  m.peer("vendor") == nullptr ? 0.0 : m.peer("vendor")->timing.median / c.seconds,
                  c.right ? "" : ", WRONG", c.same_bits ? "" : ", other bits", c.kernel.c_str());
  out << std::flush;
}

void print_gpu_roofs(std::ostream& out, const cuda::DeviceInfo& d) {
  out << d.name << ", " << utc_now() << ", commit " << commit()
      << format(
             ": read %.3f TB/s, copy %.3f TB/s, float64 %.1f, float64 tensor %.1f, float32 %.1f, "
             "TF32 tensor %.0f, float16 tensor %.0f TFLOP/s\n",
             d.read_bytes_per_second * 1e-12, d.copy_bytes_per_second * 1e-12, d.float64_flops * 1e-12,
             d.float64_tensor_flops * 1e-12, d.float32_flops * 1e-12, d.tf32_tensor_flops * 1e-12,
             d.half_tensor_flops * 1e-12);
}

Cell cell_of(const Measured& m) {
  const Problem& p = m.described.problem;
  return {m.described.table,
          operation_text(m),
          type_text(m),
          m.described.form(),
          p.n,
          p.p,
          p.q,
          m.right ? m.seconds() : 0,
          m.right ? m.roof_share() : 0,
          m.times("vendor"),
          m.same_bits,
          m.right ? m.sector_share() : 0};
}

app::JsonObject json_of(const Measured& m) {
  const Problem& p = m.described.problem;
  const bool gpu = m.place == Space::device;
  app::JsonObject json;
  json.add("operation", name_of(p.operation)).add("type", name_of(p.type)).add("n", p.n).add("p", p.p).add("q", p.q);
  if (p.operation == Operation::spmm) json.add("nonzeros", p.nonzeros);
  if (gpu) json.add("table", m.described.table).add("form", m.described.form()).add("kernel", m.kernel);
  json.add("right", m.right).add("error_over_bound", m.worst_error);
  if (gpu) json.add("same_bits", m.same_bits);
  if (!m.right) return json;
  json.add("best_seconds", m.ours.best).add("median_seconds", m.ours.median);
  if (gpu) json.add("graph_seconds", m.graph_seconds);
  json.add("bytes_per_second", m.bytes_per_second())
      .add("flops_per_second", m.cost.flops / m.seconds())
      .add("roof_share", m.roof_share());
  if (!gpu) json.add("predicted_seconds", m.predicted_seconds);
  json.add("bound", name_of(m.bound));
  if (!gpu)
    json.add("read_roof", m.roofs.read_bytes_per_second)
        .add("copy_roof", m.roofs.copy_bytes_per_second)
        .add("float64_flops_roof", m.roofs.float64_flops)
        .add("float32_flops_roof", m.roofs.float32_flops);
  if (m.sector_share() > 0) json.add("sector_share", m.sector_share());
  for (const CandidateTiming& c : m.candidates) json.add("seconds of " + c.kernel, c.seconds);
  for (const PeerTiming& peer : m.peers) {
    if (!peer.way.empty()) json.add(peer.library + "_routine", peer.way);
    json.add(peer.library + "_seconds", m.seconds(peer.timing)).add("times_" + peer.library, m.times(peer.library));
  }
  return json;
}

std::string_view commit() { return TS_COMMIT; }

app::JsonObject json_of_run(const Context& ctx, const Effort& effort, std::int64_t bytes, const Roofs& best) {
  const ProcessorInfo& cpu = this_cpu();
  app::JsonObject json;
  json.add("device", cpu.name)
      .add("threads", ctx.threads > 0 ? ctx.threads : cpu.threads)
      .add("simd", name_of(ctx.simd == Simd::best ? cpu.simd : ctx.simd))
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
