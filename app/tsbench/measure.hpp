// Checking and timing one case on one place, the host or a GPU.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tallskinny/app/common/roofs.hpp"
#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/gemm/plan/plan.hpp"

namespace ts::bench {

struct Timing {
  double best = 0, median = 0;  ///< seconds; 0: not measured
};
/// Timing from samples, each of `runs` runs.
[[nodiscard]] inline Timing timing_of(std::vector<double> seconds, int runs = 1) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front() / runs, seconds[seconds.size() / 2] / runs};
}

/// Time of another library.
struct PeerTiming {
  std::string library, way;  ///< as Peer has them
  Timing timing;
};

/// One of the kernels among which the planner chooses.
struct CandidateTiming {
  std::string kernel;
  double predicted = 0, seconds = 0;
  bool right = true, same_bits = true;
};

struct Measured {
  Case described;
  Space place = Space::host;
  std::string kernel;  ///< the family that ran on a GPU, where one launch does it all
  Cost cost;
  double roof_seconds = 0;  ///< what nothing could beat: all bytes at the roof, or all flops at the peak
  Bound bound = Bound::memory;
  Roofs roofs;                   ///< of the host, measured in turns with the case
  double predicted_seconds = 0;  ///< by the plan for the host with these roofs
  Timing ours;
  double graph_seconds = 0;                 ///< of one run in a captured graph of a GPU
  std::vector<PeerTiming> peers;            ///< on a GPU the fastest way of all alone
  std::vector<CandidateTiming> candidates;  ///< of sparse products on a GPU
  double worst_error = 0;                   ///< relative to the bound: at most 1, or the case is not timed
  bool right = true, same_bits = true;

  /// Time to report: the best run on a host that others use, too; the median on a GPU.
  [[nodiscard]] double seconds(const Timing& t) const { return place == Space::host ? t.best : t.median; }
  [[nodiscard]] double seconds() const { return seconds(ours); }
  [[nodiscard]] double bytes_per_second() const { return cost.bytes() / seconds(); }
  [[nodiscard]] double roof_share() const { return roof_seconds / seconds(); }
  /// Share of the roof in bytes that memory moves where lines have gaps; 0 where they have none.
  [[nodiscard]] double sector_share() const {
    return described.gap == 0 ? 0 : roof_share() * std::max(1.0, described.sector_bytes() / cost.bytes());
  }
  /// Time of a library; null where it does not compute this case.
  [[nodiscard]] const PeerTiming* peer(std::string_view library) const {
    const auto found =
        std::find_if(peers.begin(), peers.end(), [&](const PeerTiming& p) { return p.library == library; });
    return found == peers.end() ? nullptr : &*found;
  }
  /// How many times faster ours is; 0 where the library has no way.
  [[nodiscard]] double times(std::string_view library) const {
    const PeerTiming* const p = peer(library);
    return p == nullptr ? 0 : seconds(p->timing) / seconds();
  }
};

struct Effort {
  int repetitions = 5;
  bool peers = true;
};

/// The one way in which a case is measured: run, checked, run again for the same bits on a GPU, and only then timed. A
/// place has a Context and says how to make operands, to time and to judge.
template <class Place>
[[nodiscard]] Measured measure_on(Place& place, const Case& c, const Effort& effort) {
  const Context& ctx = place.context();
  Measured m;
  m.described = c, m.place = Place::space, m.cost = cost_of(c.problem);
  by_type(c.problem.type, [&]<class T>(std::type_identity<T>) {
    const auto operands = place.template operands<T>(c);
    const auto& first = operands.sets.front();
    run(ctx, first);
    if constexpr (Place::space == Space::device) {
      const std::uint64_t bits = place.bits_of(first);
      m.worst_error = worst_error(ctx, first);
      place.refill(first);
      run(ctx, first);
      m.same_bits = place.bits_of(first) == bits;
    } else {
      m.worst_error = worst_error(ctx, first);
    }
    m.right = m.worst_error <= 1;
    if (m.right) place.time(operands.sets, effort, m);
  });
  place.judge(m);
  return m;
}

}  // namespace ts::bench
