#include <algorithm>
#include <iostream>

#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsbench/commands.hpp"
#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/app/tsbench/report.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/runtime/threads/processors.hpp"

namespace ts::bench {

namespace {

constexpr double seconds_per_contestant = 1.5;  // a slow one is not repeated beyond this

/// Repeated runs of ours or of a peer.
struct Contestant {
  std::string library;
  std::function<void()> run;
  std::vector<double> times;
  double spent = 0;

  void run_once() {
    if (spent > seconds_per_contestant) return;
    const Stopwatch watch;
    run();
    times.push_back(watch.seconds());
    spent += times.back();
  }
};

/// The processor as a place where cases are measured.
class HostPlace {
 public:
  static constexpr Space space = Space::host;
  template <class T>
  struct Sets {
    std::vector<HostOperands<T>> sets;  ///< one: operands are far larger than the caches
    CsrMatrix<T> sparse;
  };

  /// Memory for `bytes` in each tall operand and for widths up to `width`. Of `ctx` threads, vector instructions and
  /// implementation count.
  HostPlace(Context ctx, std::int64_t bytes, index_t width)
      : ctx_(std::move(ctx)),
        bytes_(bytes),
        x_(bytes / 8 + 2048, 1),
        y_(bytes / 8 + 2048, 1),
        out_(bytes / 8 + 2048, 1),
        small_(2 * width, width),
        result_(2 * width, width),
        gram_(2 * width, width) {
    set_peer_threads(ctx_.thread_count());
  }

  [[nodiscard]] const Context& context() const noexcept { return ctx_; }

  /// The tall operands take no more memory than there is; results in place are filled afresh.
  template <class T>
  [[nodiscard]] Sets<T> operands(const Case& c) {
    using R = result_t<T>;
    const Problem& p = c.problem;
    if (filled_ != dtype_of<T>) {
      fill<T>(x_, first_key.x), fill<T>(y_, first_key.y), fill<R>(out_, first_key.out);
      filled_ = dtype_of<T>;
    }
    const auto at = [](Matrix<double>& m) { return reinterpret_cast<std::byte*>(m.data()); };
    Sets<T> o;
    HostOperands<T> one =
        operands_at<T, Space::host>(c, {at(x_), at(y_), at(out_), at(small_), at(result_), at(gram_)});
    if (p.operation == Operation::spmm) {
      one.pattern = SparsePattern::of(c.pattern, p.n);
      o.sparse = sparse_matrix<T>(one.pattern);
      one.sparse = o.sparse.view();
    }
    if (in_place(p.operation)) fill<R>(out_, first_key.out, p.n * out_width(p));
    if (operand_bytes(c).small > 0) {
      Matrix<R> small(std::max(p.p, p.q), std::max(p.p, p.q));
      fill_small(small, p);
      std::copy_n(small.data(), small.rows() * small.cols(), const_cast<R*>(one.small.data));
    }
    o.sets.push_back(one);
    return o;
  }

  /// Ours, the roofs and the peers in turns, so that a noisy machine hits all alike.
  template <class T>
  void time(const std::vector<HostOperands<T>>& sets, const Effort& effort, Measured& m) {
    const HostOperands<T>& o = sets.front();
    std::vector<Contestant> all = {{"", [&] { run(ctx_, o); }, {}}};
    const std::vector<HostPeer<T>> peers = effort.peers ? peers_of(ctx_, o) : std::vector<HostPeer<T>>{};
    for (const HostPeer<T>& peer : peers) all.push_back({peer.library, [&] { peer.run(o); }, {}});
    for (int r = 0; r < effort.repetitions; ++r) {
      all.front().run_once();
      measure_roofs(m.roofs);
      for (Contestant& each : all) each.run_once();
    }
    m.ours = timing_of(all.front().times);
    for (std::size_t i = 1; i < all.size(); ++i) m.peers.push_back({all[i].library, "", timing_of(all[i].times)});
  }

  /// The bound and the prediction, with the roofs as measured.
  void judge(Measured& m) {
    if (m.roofs.read_bytes_per_second == 0) measure_roofs(m.roofs);
    ProcessorInfo device = this_cpu();
    device.threads = ctx_.thread_count();
    device.read_bytes_per_second = m.roofs.read_bytes_per_second;
    device.copy_bytes_per_second = m.roofs.copy_bytes_per_second;
    device.float64_flops = m.roofs.float64_flops;
    device.float32_flops = m.roofs.float32_flops;
    PlanOverrides overrides;
    overrides.simd = ctx_.simd;
    const Problem& p = m.described.problem;
    const Plan plan = make_plan(p, device, overrides);
    m.predicted_seconds = plan.seconds, m.bound = plan.bound, m.cost = plan.cost;
    // A reduction writes nothing to speak of; what writes tall results is held against a copy.
    const bool writes = m.cost.written_bytes * 20 > m.cost.read_bytes;
    const double rate = writes ? m.roofs.copy_bytes_per_second : m.roofs.read_bytes_per_second;
    const bool wide = p.type == DType::float64 || p.type == DType::complex128;
    m.roof_seconds =
        std::max(m.cost.bytes() / rate, m.cost.flops / (wide ? m.roofs.float64_flops : m.roofs.float32_flops));
  }

 private:
  void measure_roofs(Roofs& best) {
    const auto count = static_cast<std::size_t>(bytes_ / 8) / 4096 * 4096;
    app::measure_roofs({x_.data(), count}, {out_.data(), count}, ctx_.thread_count(), best);
  }
  /// The first elements of an operand, all of them unless `count` is given.
  template <class T>
  static void fill(Matrix<double>& m, std::uint64_t first, index_t count = -1) {
    T* const values = reinterpret_cast<T*>(m.data());
    if (count < 0) count = m.rows() * 8 / static_cast<index_t>(sizeof(T));
    parallel_for(default_threads(), count,
                 [&](index_t i) { values[i] = value_at<T>(first + static_cast<std::uint64_t>(i)); });
  }

  Context ctx_;
  std::int64_t bytes_;
  Matrix<double> x_, y_, out_, small_, result_, gram_;  // bytes of any type
  std::optional<DType> filled_;                         // with values of this type
};

struct EngineRequest {
  std::string operations, types, widths = "1,2,3,4,8,16,32,64";
  std::int64_t bytes = std::int64_t{256} << 20;
  std::string json_file;
  bool quick = false, no_peers = false;
  Context ctx;
  Effort effort;
};

bool parse_request(EngineRequest& request, app::Arguments arguments) {
  app::Options options(
      {"tsbench engine",
       "Measures every operation, type and width against the machine's own roofs, Eigen and OpenBLAS.",
       "[options]",
       {{"everything, kept for later", "tsbench engine --json engine.json"},
        {"a look at two operations", "tsbench engine --op tsmttsm,tsmm --types float64 --widths 4,8,16x4"}},
       "Each result is checked against long double before it is timed. roof% is the share of what the "
       "machine can do at best: all bytes at the read or copy rate, or all flops at the multiply-add "
       "rate, measured in turns with the operation. /Eigen and /OpenBLAS say how many times faster "
       "ours is. Exit code 1 when a result was wrong."});
  options.value("op", "LIST", request.operations, "operations, comma-separated; all unless given")
      .value("types", "LIST", request.types, "element types, comma-separated; all unless given")
      .value("widths", "LIST", request.widths, "widths: 8 for both operands, 16x4 for p and q")
      .custom("bytes", "SIZE", "256MiB", "memory traffic of one run", "a size from 1MiB to 1TB such as 256MiB",
              [&](std::string_view text) { return parse_bytes(text, request.bytes); })
      .value("repetitions", "N", request.effort.repetitions, "turns of each contestant", app::between(1, 1000))
      .flag("quick", request.quick, "32 MiB, three widths, two turns: a smoke test, not a measurement")
      .flag("no-peers", request.no_peers, "leave Eigen and OpenBLAS out")
      .value("threads", "N", request.ctx.threads, "0: as many as there are", app::at_least(0))
      .choice("simd", request.ctx.simd, "vector instructions", simd_words())
      .choice("implementation", request.ctx.implementation, "which of our two implementations runs",
              {{"fast", Implementation::fast}, {"reference", Implementation::reference}})
      .value("json", "FILE", request.json_file, "also write all figures here");
  if (!options.parse(arguments)) return false;
  app::check_output_paths({{"--json", request.json_file}});
  if (request.quick) {
    if (!options.given("bytes")) request.bytes = std::int64_t{32} << 20;
    if (!options.given("widths")) request.widths = "3,8,32";
    if (!options.given("repetitions")) request.effort.repetitions = 2;
  }
  request.effort.peers = !request.no_peers;
  return true;
}

std::vector<Case> cases_of(const EngineRequest& request, const std::vector<Shape>& shapes) {
  std::vector<Case> cases;
  const auto operations = parse_operations(request.operations);
  for (const DType type : parse_dtypes(request.types))
    for (const Operation op : operations)
      for (const Shape s : shapes)
        if (exists(op, type, s)) cases.push_back({"", problem_of(op, type, s.p, s.q, request.bytes)});
  return cases;
}

}  // namespace

int engine_command(app::Arguments arguments) {
  EngineRequest request;
  if (!parse_request(request, arguments)) return app::exit_ok;
  const auto shapes = parse_widths(request.widths);
  const std::vector<Case> cases = cases_of(request, shapes);
  solvers::expect_memory("the benchmark", {{"operands", static_cast<std::uint64_t>(5 * request.bytes)}},
                         app::available_memory());

  bool all_right = true;
  Roofs best;
  ResultsFile results(request.json_file);
  index_t widest = 1;
  for (const Shape s : shapes) widest = std::max({widest, s.p, s.q});
  HostPlace place(request.ctx, request.bytes, widest);
  print_header(std::cout, Space::host);
  for (const Case& c : cases) {
    if (app::stop_requested()) break;
    const Measured m = measure_on(place, c, request.effort);
    all_right = all_right && m.right;
    for (const auto rate :
         {&Roofs::read_bytes_per_second, &Roofs::copy_bytes_per_second, &Roofs::float64_flops, &Roofs::float32_flops})
      best.*rate = std::max(best.*rate, m.roofs.*rate);
    print_row(std::cout, m);
    results.set_header(json_of_run(request.ctx, request.effort, request.bytes, best));
    results.add(json_of(m));
  }
  const auto giga = [](double rate) { return app::short_number(rate * 1e-9, 3); };
  std::cout << "best roofs seen: read " << giga(best.read_bytes_per_second) << " GB/s, copy "
            << giga(best.copy_bytes_per_second) << " GB/s, float64 " << giga(best.float64_flops) << " Gflop/s, float32 "
            << giga(best.float32_flops) << " Gflop/s\n";
  results.finish();
  if (app::stop_requested()) return app::stop_exit_code();
  return all_right ? app::exit_ok : app::exit_failure;
}

}  // namespace ts::bench
