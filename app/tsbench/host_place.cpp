#include "tallskinny/app/tsbench/host_place.hpp"

#include <functional>

#include "tallskinny/app/tsbench/peers/peers.hpp"
#include "tallskinny/app/tsbench/values.hpp"
#include "tallskinny/gemm/runtime/processors.hpp"
#include "tallskinny/gemm/runtime/stopwatch.hpp"

namespace ts::bench {

namespace {

template <class T>
CsrMatrix<T> sparse_matrix(const SparsePattern& pattern) {
  CsrMatrix<T> a;
  a.rows = a.cols = pattern.rows;
  const auto entries = static_cast<std::size_t>(pattern.entries());
  a.pointers.reserve(static_cast<std::size_t>(a.rows) + 1);
  a.indices.reserve(entries), a.values.reserve(entries);
  for (index_t i = 0; i < a.rows; ++i) {
    pattern.row(i, [&](index_t column) {
      a.indices.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(value_at<T>(a.indices.size()));
    });
    a.pointers.push_back(static_cast<index_t>(a.indices.size()));
  }
  return a;
}

/// Repeated runs of ours or of a peer.
struct Contestant {
  std::string library;
  std::function<void()> body;
  std::vector<double> times;
  double spent = 0;

  void run_once(double seconds_allowed) {
    if (spent > seconds_allowed) return;
    const Stopwatch watch;
    body();
    times.push_back(watch.seconds());
    spent += times.back();
  }
};

}  // namespace

HostPlace::HostPlace(Context ctx, std::int64_t bytes, index_t width)
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

template <class T>
HostPlace::Sets<T> HostPlace::operands(const Case& c) {
  using R = result_t<T>;
  const Problem& p = c.problem;
  const auto count = [](const Matrix<double>& m, std::size_t size) {
    return m.rows() * m.cols() * 8 / static_cast<index_t>(size);
  };
  if (filled_ != dtype_of<T>) {
    fill<T>(default_threads(), x_.data(), count(x_, sizeof(T)), first_key.x);
    fill<T>(default_threads(), y_.data(), count(y_, sizeof(T)), first_key.y);
    fill<R>(default_threads(), out_.data(), count(out_, sizeof(R)), first_key.out);
    filled_ = dtype_of<T>;
  }
  const auto at = [](Matrix<double>& m) { return reinterpret_cast<std::byte*>(m.data()); };
  Sets<T> o;
  HostOperands<T> one = operands_at<T, Space::host>(c, {at(x_), at(y_), at(out_), at(small_), at(result_), at(gram_)});
  if (p.operation == Operation::spmm) {
    one.pattern = SparsePattern::of(c.pattern, p.n);
    o.sparse = sparse_matrix<T>(one.pattern);
    one.sparse = o.sparse.view();
  }
  if (in_place(p.operation)) fill<R>(default_threads(), one.out.data, p.n * out_width(p), first_key.out);
  if (operand_bytes(c).small > 0) {
    Matrix<R> small(std::max(p.p, p.q), std::max(p.p, p.q));
    fill_small(small, p);
    std::copy_n(small.data(), small.rows() * small.cols(), const_cast<R*>(one.small.data));
  }
  o.sets.push_back(one);
  return o;
}

void HostPlace::measure_roofs(Roofs& best) {
  const auto count = static_cast<std::size_t>(bytes_ / 8) / 4096 * 4096;
  app::measure_roofs({x_.data(), count}, {out_.data(), count}, ctx_.thread_count(), best);
}

template <class T>
void HostPlace::time(const std::vector<HostOperands<T>>& sets, const Effort& effort, Measured& m) {
  const HostOperands<T>& o = sets.front();
  Contestant ours{"", [&] { run(ctx_, o); }, {}};
  std::vector<Contestant> others;
  const std::vector<HostPeer<T>> peers = effort.peers ? peers_of(ctx_, o) : std::vector<HostPeer<T>>{};
  others.reserve(peers.size());
  for (const HostPeer<T>& peer : peers) others.push_back({peer.library, [&] { peer.run(o); }, {}});
  for (int r = 0; r < effort.repetitions; ++r) {
    ours.run_once(effort.seconds_per_contestant);
    measure_roofs(m.roofs);
    ours.run_once(effort.seconds_per_contestant);
    for (Contestant& other : others) other.run_once(effort.seconds_per_contestant);
  }
  m.ours = timing_of(ours.times);
  for (const Contestant& other : others) m.peers.push_back({other.library, "", timing_of(other.times)});
}

void HostPlace::judge(Measured& m) {
  if (m.roofs.read_bytes_per_second == 0) measure_roofs(m.roofs);
  ProcessorInfo device = this_cpu();
  device.threads = ctx_.thread_count();
  device.read_bytes_per_second = m.roofs.read_bytes_per_second;
  device.copy_bytes_per_second = m.roofs.copy_bytes_per_second;
  device.float64_flops = m.roofs.float64_flops;
  device.float32_flops = m.roofs.float32_flops;
  PlanOverrides wish;
  wish.simd = ctx_.simd;
  const Problem& p = m.described.problem;
  const Plan plan = make_plan(p, device, wish);
  m.predicted_seconds = plan.seconds, m.bound = plan.bound, m.cost = plan.cost;
  // A reduction writes nothing to speak of; what writes tall results is held against a copy.
  const bool writes = m.cost.written_bytes * 20 > m.cost.read_bytes;
  const double rate = writes ? m.roofs.copy_bytes_per_second : m.roofs.read_bytes_per_second;
  const bool wide = p.type == DType::float64 || p.type == DType::complex128;
  m.roof_seconds =
      std::max(m.cost.bytes() / rate, m.cost.flops / (wide ? m.roofs.float64_flops : m.roofs.float32_flops));
}

Measured HostPlace::measure(const Case& c, const Effort& effort) {
  return by_type(c.problem.type, [&]<class T>(std::type_identity<T>) { return measure_on<T>(*this, c, effort); });
}

}  // namespace ts::bench
