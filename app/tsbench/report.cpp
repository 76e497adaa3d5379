#include "tallskinny/app/tsbench/report.hpp"

#include <array>
#include <cmath>
#include <ostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/gpu/compile.hpp"

namespace ts::bench {

namespace {

using M = const Measured&;

long long number(index_t x) { return x; }

std::string host_row(M m) {
  const Problem& p = m.described.problem;
  const auto times = [&](const char* library) {
    return m.peer(library) == nullptr ? std::string() : format("%.2f", m.times(library));
  };
  const std::string what = format("%-15s%-11s%5lld%5lld%10lld", name_of(p.operation).data(), name_of(p.type).data(),
                                  number(p.p), number(p.q), number(p.n));
  if (!m.right) return what + format("%10s%45s", "WRONG", "");
  return what + format("%10.2f%8.1f%7.0f%11s%9s%10s", m.seconds() * 1e3, m.bytes_per_second() * 1e-9,
                       100 * m.roof_share(), name_of(m.bound).data(), times("eigen").c_str(),
                       times("openblas").c_str());
}

std::string gpu_row(M m) {
  const Problem& p = m.described.problem;
  const std::string what = format("%-14s%-11s%-9s%6lld%5lld%10lld", name_of(p.operation).data(), name_of(p.type).data(),
                                  m.described.form().c_str(), number(p.p), number(p.q), number(p.n));
  if (!m.right) return what + format("%10s%41s%8.0e%5s", "WRONG", "", m.worst_error, "");
  std::string share = format("%.1f%s", 100 * m.roof_share(), m.bound == Bound::arithmetic ? "a" : "");
  if (m.sector_share() > 0) share += format("|%.0f", 100 * m.sector_share());
  const PeerTiming* const vendor = m.peer("vendor");
  const std::string times = vendor == nullptr ? "-" : format("%.2f", m.times("vendor"));
  return what + format("%10.1f%10.1f%7.3f%8s%8s%8s%8.0e%5s", m.seconds() * 1e6, m.graph_seconds * 1e6,
                       m.bytes_per_second() * 1e-12, share.c_str(), vendor == nullptr ? "-" : vendor->way.c_str(),
                       times.c_str(), m.worst_error, m.same_bits ? "same" : "DIFF");
}

struct Range {
  double low = HUGE_VAL, high = 0;
  void add(double x) { low = std::min(low, x), high = std::max(high, x); }
  [[nodiscard]] std::string text() const {
    return high > 0 ? format("%5.1f .. %5.1f", 100 * low, 100 * high) : std::string(14, ' ');
  }
};

/// A geometric mean.
struct Mean {
  double logs = 0;
  int count = 0;
  void add(double x) { logs += std::log(x), ++count; }
  [[nodiscard]] double value() const { return count > 0 ? std::exp(logs / count) : 0; }
};

/// One line for cases that have these names in common.
struct Line {
  std::array<std::string, 4> names;  ///< table, operation, type, form; empty ones stand for all
  Range narrow, broad, sectors;
  Mean share, times;
  int cells = 0, wrong = 0, differ = 0, behind = 0;
  double least = HUGE_VAL;
  std::string least_at;

  void add(M m) {
    ++cells, wrong += !m.right, differ += !m.same_bits;
    if (!m.right) return;
    const Problem& p = m.described.problem;
    // Operations with a large matrix are narrow where their block is.
    const bool large = p.operation == Operation::tsm2r || p.operation == Operation::spmm || m.described.table == "wide";
    ((large ? p.q : std::max(p.p, p.q)) <= 32 ? narrow : broad).add(m.roof_share());
    share.add(m.roof_share());
    if (m.sector_share() > 0) sectors.add(m.sector_share());
    const double ratio = m.times("vendor");
    if (ratio <= 0) return;
    times.add(ratio), behind += ratio < 0.98;
    if (ratio >= least) return;
    least = ratio, least_at = format("%lldx%lld", number(p.p), number(p.q));
    if (names[2].empty()) least_at += " " + std::string(name_of(p.type));
    if (names[3].empty()) least_at += " " + m.described.form();
  }
  [[nodiscard]] std::string text() const {
    std::string t =
        format("%-12s %-14s %-11s %-9s %5d  %s  %s %5.1f", names[0].c_str(), names[1].c_str(), names[2].c_str(),
               names[3].c_str(), cells, narrow.text().c_str(), broad.text().c_str(), 100 * share.value());
    t += times.count > 0 ? format("  %6.2f %6.2f %5d  %s", times.value(), least, behind, least_at.c_str())
                         : std::string("       -      -     -");
    if (sectors.high > 0) t += "  by sectors " + sectors.text();
    if (wrong > 0) t += format("  %d WRONG", wrong);
    if (differ > 0) t += format("  %d with other BITS", differ);
    return t;
  }
};

}  // namespace

void print_header(std::ostream& out, Space place) {
  if (place == Space::host)
    out << format("%-15s%-11s%5s%5s%10s%10s%8s%7s%11s%9s%10s\n", "operation", "type", "p", "q", "rows", "ms", "GB/s",
                  "roof%", "bound", "/Eigen", "/OpenBLAS");
  else
    out << format("%-14s%-11s%-9s%6s%5s%10s%10s%10s%7s%8s%8s%8s%8s%5s\n", "operation", "type", "form", "p", "q", "rows",
                  "us", "graph us", "TB/s", "roof%", "vendor", "/vendor", "err", "bits");
}

void print_row(std::ostream& out, const Measured& m) {
  out << (m.place == Space::host ? host_row(m) : gpu_row(m)) << '\n';
  for (const CandidateTiming& c : m.candidates)
    out << format("    %10.1f us, predicted %.1f, /vendor %.2f%s%s  %s\n", c.seconds * 1e6, c.predicted * 1e6,
                  m.peer("vendor") == nullptr ? 0.0 : m.peer("vendor")->timing.median / c.seconds,
                  c.right ? "" : ", WRONG", c.same_bits ? "" : ", other bits", c.kernel.c_str());
  out << std::flush;
}

void print_summary(std::ostream& out, const std::vector<Measured>& cases) {
  std::vector<Line> lines;
  const auto add = [&lines](M m, const std::array<std::string, 4>& names) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.names == names; });
    if (line == lines.end()) {
      line = lines.emplace(lines.end());
      line->names = names;
    }
    line->add(m);
  };
  for (M m : cases) {
    const Problem& p = m.described.problem;
    const bool mixes = m.described.table == "floor";  // many forms of few cases each
    add(m, {m.described.table, std::string(name_of(p.operation)), std::string(name_of(p.type)),
            mixes ? "" : m.described.form()});
  }
  for (M m : cases) add(m, {"all", std::string(name_of(m.described.problem.operation)), "", ""});
  for (M m : cases) add(m, {"all", "", "", ""});
  out << format("%-12s %-14s %-11s %-9s %5s  %-14s  %-14s %5s  %6s %6s %5s  %s\n", "table", "operation", "type", "form",
                "cells", "roof% to 32", "roof% beyond", "mean", "/vendor", "least", "<.98", "at");
  for (const Line& line : lines) out << line.text() << '\n';
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
  json.add("bytes_per_second", m.bytes_per_second()).add("flops_per_second", m.cost.flops / m.seconds());
  json.add("roof_share", m.roof_share());
  if (!gpu) json.add("predicted_seconds", m.predicted_seconds);
  json.add("bound", name_of(m.bound));
  if (!gpu) {
    const Roofs& r = m.roofs;
    json.add("read_roof", r.read_bytes_per_second).add("copy_roof", r.copy_bytes_per_second);
    json.add("float64_flops_roof", r.float64_flops).add("float32_flops_roof", r.float32_flops);
  }
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
  json.add("device", cpu.name).add("threads", ctx.threads > 0 ? ctx.threads : cpu.threads);
  json.add("simd", name_of(ctx.simd == Simd::best ? cpu.simd : ctx.simd)).add("date", utc_now());
  json.add("commit", commit()).add("compiler", TS_COMPILER);
  json.add("eigen", eigen_version()).add("openblas", openblas_version());
  json.add("bytes", bytes).add("repetitions", effort.repetitions);
  json.add("read_bytes_per_second", best.read_bytes_per_second);
  json.add("copy_bytes_per_second", best.copy_bytes_per_second);
  json.add("float64_flops", best.float64_flops).add("float32_flops", best.float32_flops);
  return json;
}

app::JsonObject json_of_gpu_run(const cuda::DeviceInfo& d, std::int64_t bytes) {
  app::JsonObject json;
  json.add("device", d.name).add("capability", d.capability()).add("multiprocessors", d.multiprocessors);
  json.add("date", utc_now()).add("commit", commit());
  json.add("nvrtc", cuda::compiler_version()).add("vendor", vendor_versions()).add("bytes", bytes);
  json.add("read_bytes_per_second", d.read_bytes_per_second).add("copy_bytes_per_second", d.copy_bytes_per_second);
  json.add("float64_flops", d.float64_flops).add("float64_tensor_flops", d.float64_tensor_flops);
  json.add("float32_flops", d.float32_flops).add("tf32_tensor_flops", d.tf32_tensor_flops);
  json.add("half_tensor_flops", d.half_tensor_flops);
  return json;
}

namespace {

void report_written(const std::string& file, const std::string& what) {
  app::Console("tsbench", false).note("wrote " + file + ": " + what);
}

}  // namespace

void write_and_report(const std::string& file, std::string_view text, const std::string& what) {
  app::write_text_file(file, text);
  report_written(file, what);
}

void ResultsFile::add(app::JsonObject result) {
  constexpr double every = 5;  // seconds
  results_.push_back(std::move(result));
  if (since_.seconds() - written_at_ > every) write();
}

void ResultsFile::write() {
  if (path_.empty()) return;
  app::JsonObject head = header_;
  std::string all = head.add("results", std::vector<app::JsonObject>{}).text();
  all.resize(all.size() - 3);  // less "]\n}"
  const char* before = "\n    ";
  for (const app::JsonObject& result : results_) {
    all += before + result.text(-1);
    before = ",\n    ";
  }
  app::write_text_file(path_, all + "\n  ]\n}\n");
  written_at_ = since_.seconds();
}

void ResultsFile::finish() {
  write();
  if (!path_.empty()) report_written(path_, std::to_string(results_.size()) + " results");
}

}  // namespace ts::bench
