// Lines of what solvers answer.
#pragma once

#include "tallskinny/solvers/eigen/values/result.hpp"
#include "tallskinny/tests/bench/baseline/results.hpp"

namespace ts::baseline {

template <class T>
void add(Hash& hash, const solvers::EigenResult<T>& r) {
  hash.add(r.values).add(r.vectors).add(r.residual_norms).add(r.error_bounds).add(r.value_roundings);
  hash.add(r.multiplicities).add(r.cut_off).add(r.converged_pairs).add(r.converged).add(r.verified);
  hash.add(r.verification).add(r.stop).text(r.reason).add(r.iterations).add(r.operator_applications);
  hash.add(r.narrow_applications).add(r.filter_degree).add(r.restarts).add(r.verification_rounds);
  hash.add(r.taken_over).add(r.norm).add(r.orthogonality_loss);
  for (const solvers::HistoryEntry& h : r.history)
    hash.add(h.iteration).add(h.operator_applications).add(h.converged).add(h.worst).add(h.ratios);
}

}  // namespace ts::baseline
