#include "tallskinny/solvers/setup/rank_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tallskinny/gemm/plan/text.hpp"
#include "tallskinny/gemm/runtime/row_slabs.hpp"
#include "tallskinny/solvers/setup/memory_plan.hpp"
#include "tallskinny/solvers/setup/where.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr index_t piece = 4096;  ///< rows over which k-means sums in order: its slabs begin at multiples

double real(index_t count) { return static_cast<double>(count); }

struct Link {
  double latency, bytes_per_second;
};

/// Beyond a node its ranks share the network.
Link link_of(const MachineModel& m, index_t ranks) {
  if (ranks <= m.ranks_per_node) return {m.node_message_seconds, m.node_bytes_per_second};
  return {m.message_seconds, m.network_bytes_per_second / real(m.ranks_per_node)};
}

void add_messages(const MachineModel& m, index_t ranks, double messages, double bytes, RankCost& cost) {
  const Link link = link_of(m, ranks);
  cost.messages += messages, cost.sent += bytes;
  cost.latency_seconds += messages * link.latency, cost.network_seconds += bytes / link.bytes_per_second;
}

void add_work(const MachineModel& m, double moved, double flops, bool narrow, RankCost& cost) {
  cost.moved += moved, cost.flops += flops;
  cost.memory_seconds += moved / m.memory_bytes_per_second;
  cost.arithmetic_seconds += flops / (narrow ? m.narrow_flops_per_second : m.flops_per_second);
}

double doublings(index_t ranks) { return std::ceil(std::log2(real(ranks))); }

void expect_ranks(index_t ranks) {
  expects(ranks >= 1 && ranks <= std::numeric_limits<int>::max(), "a run needs 1 rank or more, and MPI numbers 2^31");
}

/// What rank 0 writes comes to it first.
double seconds_to_write(const MachineModel& m, index_t ranks, double bytes) {
  const double most = ranks == 1 ? m.read_bytes_per_second : link_of(m, ranks).bytes_per_second;
  return bytes / std::min(m.read_bytes_per_second, most);
}

void tell_limits(const MachineModel& m, RankPrediction& p) {
  if (p.working < p.ranks)
    p.limits.push_back(std::to_string(p.ranks - p.working) + " of " + std::to_string(p.ranks) +
                       " ranks have no rows and wait");
  const std::uint64_t needed = total_bytes(p.memory);
  if (static_cast<double>(needed) > m.memory_bytes)
    p.limits.push_back("a rank needs " + human_bytes(needed) + " of memory and has " +
                       human_bytes(static_cast<std::uint64_t>(m.memory_bytes)));
}

std::uint64_t whole_bytes(double bytes) { return static_cast<std::uint64_t>(std::llround(bytes)); }

}  // namespace

double RankCost::seconds() const noexcept {
  return std::max(memory_seconds, arithmetic_seconds) + latency_seconds + network_seconds;
}

double RankPrediction::seconds() const noexcept {
  return read_seconds + start.seconds() + steps * step.seconds() + write_seconds;
}

void add_all_gather(const MachineModel& m, index_t ranks, double bytes, RankCost& cost) noexcept {
  if (ranks == 1) return;
  const double others = real(ranks - 1);
  add_messages(m, ranks, bytes < long_message ? doublings(ranks) : others, bytes * others / real(ranks), cost);
}

void add_all_reduce(const MachineModel& m, index_t ranks, double bytes, RankCost& cost) noexcept {
  if (ranks == 1) return;
  add_messages(m, ranks, 2 * doublings(ranks), 2 * bytes * real(ranks - 1) / real(ranks), cost);
}

void add_exchange(const MachineModel& m, index_t ranks, index_t neighbours, double bytes, RankCost& cost) noexcept {
  if (ranks > 1 && neighbours > 0 && bytes > 0) add_messages(m, ranks, 1, real(neighbours) * bytes, cost);
}

RankPrediction predict_kmeans(const MachineModel& m, const KMeansOptions& o, const PointsShape& points, index_t ranks) {
  expect_ranks(ranks);
  expects(!points.sparse, "the model of k-means on ranks is one of dense points");
  const index_t pieces = (points.rows + piece - 1) / piece;
  RankPrediction p;
  p.ranks = ranks, p.working = std::max<index_t>(1, std::min(ranks, pieces));
  p.rows = std::min(points.rows, (pieces + ranks - 1) / ranks * piece);
  const bool narrow = size_of(points.type) < 8;
  const double d = real(points.cols), k = real(o.clusters), bytes_of_piece = 8.0 * real(pieces);
  const double here = real(p.rows) * d * static_cast<double>(size_of(points.type)), labels = 8.0 * real(p.rows);

  // A pass: points and labels read, labels written; all ranks add their sums, two words of 64 bits for each number.
  add_work(m, here + labels, 2 * real(p.rows) * d * k, narrow, p.step);
  add_all_reduce(m, ranks, 8 * (2 * k * d + 3 * k), p.step);
  for (int counts = 0; counts < 2; ++counts) add_all_reduce(m, ranks, 3 * 8, p.step);
  p.steps = real(std::min<index_t>(typical_passes, o.max_iter));

  // Moments, added rank after rank, and the labels of the last centres with the inertia, a number for each piece.
  add_work(m, 2 * here + labels, 4 * real(p.rows) * d + 2 * real(p.rows) * d * k, narrow, p.start);
  if (ranks > 1) add_messages(m, ranks, real(ranks) * doublings(ranks), real(ranks) * 16 * d, p.start);
  add_all_gather(m, ranks, bytes_of_piece, p.start);
  if (o.init == KMeansInit::plus_plus) {
    const double trials = 2 + std::floor(std::log(k));
    const index_t sample = seeding_sample(points.rows, points.cols, o.clusters);
    if (sample > 0) {  // distances to the first centre; all ranks then have the sample
      add_work(m, here, 2 * real(p.rows) * d, narrow, p.start);
      add_work(m, 0, 2 * real(sample) * d * k * trials, narrow, p.start);
      add_all_gather(m, ranks, bytes_of_piece, p.start);
      add_all_gather(m, ranks, real(sample) * d * static_cast<double>(size_of(points.type)), p.start);
    } else {
      add_work(m, 2 * k * here, 2 * real(p.rows) * d * k * (trials + 1), narrow, p.start);
      for (index_t centre = 0; centre < o.clusters; ++centre)
        add_all_gather(m, ranks, (trials + 1) * bytes_of_piece, p.start);
    }
  }
  p.read_seconds = static_cast<double>(points.bytes) / m.read_bytes_per_second;
  p.write_seconds = seconds_to_write(m, ranks, 4.0 * real(points.rows));

  PointsShape slab = points;
  slab.rows = p.rows, slab.nonzeros = p.rows * points.cols, slab.bytes = whole_bytes(here);
  const Placement place = place_points(o, {.predicts = false}, slab, {m.gpu, 0, 0});
  p.memory = m.gpu ? place.device_uses : place.host_uses;
  p.memory.push_back({"a number for each 4096 rows of all ranks", whole_bytes(bytes_of_piece)});
  tell_limits(m, p);
  if (ranks > 1 && bytes_of_piece > std::numeric_limits<std::int32_t>::max())
    p.limits.push_back("the numbers for each 4096 rows, " + human_bytes(whole_bytes(bytes_of_piece)) +
                       ", are beyond a message of MPI and go as " + std::to_string(ranks) + " broadcasts");
  return p;
}

index_t halo_of_grid(index_t rows) noexcept { return std::llround(std::pow(real(rows), 2.0 / 3)); }

RankPrediction predict_hermitian(const MachineModel& m, const EigenPlan& plan, const EigenShape& a, index_t ranks) {
  expect_ranks(ranks);
  const index_t unit = row_unit(a.rows), units = (a.rows + unit - 1) / unit;
  RankPrediction p;
  p.ranks = ranks, p.working = std::max<index_t>(1, std::min(ranks, units));
  p.rows = std::min(a.rows, (units + ranks - 1) / ranks * unit);
  const double share = a.rows == 0 ? 0 : real(p.rows) / real(a.rows);
  const double e = static_cast<double>(a.element_bytes), b = real(plan.block_size), basis = 0.5 * real(plan.max_basis);
  const double line = real(p.rows) * e, entries = share * real(a.entries);
  const double matrix = entries * (e + 4) + 8 * real(p.rows), of_complex = a.element_bytes == 16 ? 4 : 1;

  // W = A F, its norms, F^H W, and twice W - V (V^H W): half of the basis is full on average.
  add_work(m, matrix + 4 * b * line + passes_of_a_step * basis * line,
           of_complex * (2 * entries * b + 8 * basis * real(p.rows) * b), false, p.step);
  const index_t neighbours = std::min<index_t>(2, p.working - 1);
  const double halo = real(neighbours > 0 ? a.halo : 0) * b * e;
  add_exchange(m, ranks, neighbours, halo, p.step);
  const double sums[] = {b, b * b, (basis + b) * b, (basis + b) * b};  // gathered from each unit
  for (const double sum : sums) add_all_gather(m, ranks, real(units) * sum * e, p.step);
  p.steps = std::min(typical_steps, real(plan.max_iterations));

  // The vectors and their residuals.
  const double nev = real(plan.nev);
  add_work(m, matrix + (real(plan.max_basis) + 4 * nev) * line,
           of_complex * 2 * nev * (entries + real(plan.max_basis) * real(p.rows)), false, p.start);
  p.read_seconds = (real(a.entries) * (e + 4) + 8 * real(a.rows)) / m.read_bytes_per_second;
  p.write_seconds = seconds_to_write(m, ranks, nev * real(a.rows) * e);

  EigenPlan here = plan;
  here.bytes = whole_bytes(share * static_cast<double>(plan.bytes));
  MemoryNeeds needs;
  needs.rows = p.rows, needs.element_bytes = a.element_bytes;
  needs.matrix_bytes = whole_bytes((ranks > 1 ? 2 : 1) * matrix);  // as it is read, and in local numbers of columns
  needs.space = m.gpu ? Space::device : Space::host;
  const MemoryPlan plan_here = plan_memory(here, needs);
  p.memory = m.gpu ? plan_here.uses_of(true) : plan_here.shares;
  if (ranks > 1) {
    p.memory.push_back({"halo", whole_bytes(2 * real(neighbours) * halo)});
    p.memory.push_back({"sums of all units", whole_bytes(real(units) * sums[3] * 2 * e)});
  }
  tell_limits(m, p);
  if (p.working < ranks)
    p.limits.push_back("rows are summed in at most " + std::to_string(most_row_units) +
                       " units, for equal bits on any number of ranks: more ranks than these gain nothing");
  if (const index_t columns = p.rows + neighbours * a.halo; columns > std::numeric_limits<std::int32_t>::max())
    p.limits.push_back("rows and halo of a rank are " + std::to_string(columns) +
                       ", but its column numbers have 32 bits: the run is refused");
  return p;
}

}  // namespace ts::inline v0::solvers
