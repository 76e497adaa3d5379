#include "tallskinny/app/tsbench/machine_measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/roofs.hpp"
#include "tallskinny/app/generators/laplacians.hpp"
#include "tallskinny/app/tsbench/measure.hpp"
#include "tallskinny/app/tsbench/values.hpp"
#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/kmeans/kmeans.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::bench {

namespace {

using solvers::MachineModel;
using solvers::RankCost;

/// A machine of rates of 1, by which the model counts.
MachineModel counting() {
  MachineModel m;
  m.memory_bytes = m.memory_bytes_per_second = m.flops_per_second = m.narrow_flops_per_second = 1;
  m.message_seconds = m.network_bytes_per_second = m.node_message_seconds = m.node_bytes_per_second = 1;
  m.read_bytes_per_second = 1;
  return m;
}

/// Bytes moved and seconds of a block step.
struct Step {
  double moved = 0, seconds = 0;
};

Step step_of_lanczos(const Context& ctx, index_t side) {
  const CsrMatrix<double> a = generators::laplacian({side, side, side});
  solvers::EigenOptions options;
  options.nev = 20, options.method = solvers::Method::lanczos, options.max_iterations = 40, options.verify = false;
  const solvers::EigenPlan plan = solvers::plan_eigen(a.rows, sizeof(double), options);
  const solvers::EigenShape shape{a.rows, std::ssize(a.values), sizeof(double), 0};
  const solvers::EigenProblem<double> problem{solvers::CsrOperator<double>(a.view())};
  (void)max_of_ranks(ctx, 0);  // all begin together
  const auto found = solvers::solve_eigen<double>(alone(ctx), problem, options);
  const solvers::KrylovSeconds& s = found.seconds;
  const double steps = static_cast<double>(found.operator_applications) / static_cast<double>(plan.block_size);
  return {solvers::predict_hermitian(counting(), plan, shape, 1).step.moved,
          max_of_ranks(ctx, (s.applying + s.orthogonalising + s.restarting + s.small) / steps)};
}

double pass_of_kmeans(const Context& ctx, index_t points) {
  constexpr index_t cols = 16;
  Matrix<float> rows(points, cols);
  fill<float>(ctx.thread_count(), rows.data(), points * cols, first_key.x);
  for (index_t i = 0; i < points; ++i)  // in groups: a pass has less to decide twice than without any
    for (index_t j = 0; j < cols; ++j)
      rows.data()[i * cols + j] += 3 * value_at<float>(first_key.y + static_cast<std::uint64_t>(i % 64 * cols + j));
  std::vector<double> seconds;
  solvers::KMeansOptions options;
  options.clusters = 64, options.init = solvers::KMeansInit::random, options.max_iter = 15, options.tol = 0;
  options.bounds = false;
  options.on_progress = [&seconds](const solvers::KMeansProgress& p) {
    if (p.iteration > 0) seconds.push_back(p.seconds);
    return true;
  };
  (void)max_of_ranks(ctx, 0);
  (void)solvers::kmeans(alone(ctx), Rows(rows.view()), options);
  return max_of_ranks(ctx, timing_of(seconds).median);
}

/// The median of many calls, of the slowest rank.
double seconds_of_call(const Context& ctx, const std::function<void()>& call) {
  const auto time = [&call] {
    const Stopwatch watch;
    call();
    return watch.seconds();
  };
  call();
  const double about = max_of_ranks(ctx, time());
  const int calls = std::clamp(static_cast<int>(0.05 / std::max(about, 1e-9)), 20, 2000);
  std::vector<double> seconds(static_cast<std::size_t>(calls));
  std::generate(seconds.begin(), seconds.end(), time);
  return max_of_ranks(ctx, timing_of(seconds).median);
}

/// Pairs of ranks send to each other; of an odd number the last one waits.
double exchange_seconds(const Context& ctx, std::vector<std::byte>& out, std::vector<std::byte>& in,
                        std::size_t bytes) {
  const int peer = ctx.communicator->rank() ^ 1;
  return seconds_of_call(ctx, [&] {
    if (peer >= ctx.communicator->size()) return;
    const Outgoing outgoing{peer, std::span(out).first(bytes)};
    const Incoming incoming{peer, std::span(in).first(bytes)};
    ctx.communicator->begin_exchange({&outgoing, 1}, {&incoming, 1})->wait();
  });
}

void measure_messages(const Context& ctx, MeasuredMachine& m) {
  constexpr std::size_t most = std::size_t{16} << 20, usual = std::size_t{1} << 20;  // a step sends less
  std::vector<std::byte> out(most), in(most);
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size());
  const auto whole = static_cast<index_t>(ranks);
  (void)exchange_seconds(ctx, out, in, 8);  // the first ones connect
  m.model.node_message_seconds = exchange_seconds(ctx, out, in, 8);
  m.model.node_bytes_per_second = static_cast<double>(usual) / exchange_seconds(ctx, out, in, usual);
  const auto predicted = [](const std::function<void(RankCost&)>& add) {
    RankCost cost;
    add(cost);
    return cost.seconds();
  };
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4} << 10, std::size_t{64} << 10, usual, most}) {
    const auto count = static_cast<double>(bytes);
    m.messages.push_back({"exchange", bytes, exchange_seconds(ctx, out, in, bytes),
                          predicted([&](RankCost& c) { solvers::add_exchange(m.model, whole, 1, count, c); })});
    std::vector<std::size_t> offsets;
    for (std::size_t r = 0; r <= ranks; ++r) offsets.push_back(bytes * r / ranks);
    m.messages.push_back({"all-gather", bytes,
                          seconds_of_call(ctx, [&] { (void)ctx.communicator->all_gather(out.data(), offsets); }),
                          predicted([&](RankCost& c) { solvers::add_all_gather(m.model, whole, count, c); })});
    const std::span<std::uint64_t> words(reinterpret_cast<std::uint64_t*>(out.data()), bytes / 8);
    m.messages.push_back({"all-reduce", bytes, seconds_of_call(ctx, [&] { ctx.communicator->add(words); }),
                          predicted([&](RankCost& c) { solvers::add_all_reduce(m.model, whole, count, c); })});
  }
}

}  // namespace

MeasuredMachine measure_machine(const Context& ctx, index_t side, index_t points) {
  MeasuredMachine m;
  MachineModel& model = m.model;
  model.ranks_per_node = ctx.communicator->size();
  model.memory_bytes = min_of_ranks(ctx, static_cast<double>(app::available_memory()));
  const Step step = step_of_lanczos(ctx, side);
  m.step_seconds = step.seconds, m.pass_seconds = pass_of_kmeans(ctx, points);
  model.memory_bytes_per_second = step.moved / step.seconds;
  model.narrow_flops_per_second = 2.0 * static_cast<double>(points) * 16 * 64 / m.pass_seconds;
  (void)max_of_ranks(ctx, 0);
  model.flops_per_second = min_of_ranks(ctx, app::measured_roofs(ctx.thread_count()).float64_flops);
  model.node_message_seconds = 1e-6, model.node_bytes_per_second = model.memory_bytes_per_second;
  if (ctx.communicator->size() > 1) measure_messages(ctx, m);
  model.message_seconds = model.node_message_seconds;
  model.network_bytes_per_second = model.node_bytes_per_second * static_cast<double>(model.ranks_per_node);
  model.read_bytes_per_second = 1e9;
  return m;
}

}  // namespace ts::bench
