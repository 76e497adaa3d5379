#include "tallskinny/gemm/assign/seeding/candidate_distances.hpp"

#include <limits>

#include "tallskinny/gemm/assign/exact/squared_distance.hpp"
#include "tallskinny/gemm/core/matrix.hpp"

namespace ts::inline v0::assign_detail {

template <class S>
CandidateDistances<S>::CandidateDistances(const Context& ctx, const Rows& x, const SeedingUnit& unit,
                                          HostView<const double> candidates)
    : kernels_(assign_cpu::select(ctx.simd)),
      x_(x),
      scale_(unit.scale),
      shift_(unit.moments, unit.scale, assign_cpu::score_kernels<S>(kernels_).lanes),
      scaled_(candidates.rows(), candidates.cols()),
      rounded_(candidates.rows(), candidates.cols()) {
  for (index_t q = 0; q < candidates.rows(); ++q) {
    for (index_t j = 0; j < candidates.cols(); ++j) {
      scaled_(q, j) = (candidates(q, j) - unit.moments.shift[static_cast<std::size_t>(j)]) * scale_;
      rounded_(q, j) = static_cast<S>(scaled_(q, j));
    }
    if (x.sparse()) norms_.push_back(squared_norm<double>(scaled_.data() + q * x.cols(), x.cols()));
  }
}

template <class S>
typename CandidateDistances<S>::Scratch CandidateDistances<S>::scratch() const {
  const auto& score = assign_cpu::score_kernels<S>(kernels_);
  const auto rows = static_cast<std::size_t>(score.rows);
  Scratch s;
  s.found = Matrix<S>(scaled_.rows(), chunk_rows);
  s.row.resize(static_cast<std::size_t>(x_.cols()));
  if (x_.sparse()) return s;
  s.tile = Matrix<S>(x_.cols(), score.rows);
  s.numbers.resize(rows), s.norms.resize(rows), s.distances.resize(rows);
  return s;
}

template <class S>
void CandidateDistances<S>::to_all(index_t first, index_t count, Scratch& s) const {
  const index_t d = x_.cols();
  if (x_.sparse()) {
    for (index_t r = 0; r < count; ++r)
      for (index_t q = 0; q < scaled_.rows(); ++q) sparse_to(first + r, q, s.found(q, r), s);
    return;
  }
  const auto& score = assign_cpu::score_kernels<S>(kernels_);
  for (index_t r0 = 0; r0 < count; r0 += score.rows) {
    const index_t here = std::min(score.rows, count - r0);
    for (index_t r = 0; r < score.rows; ++r)
      s.numbers[static_cast<std::size_t>(r)] = first + r0 + std::min(r, here - 1);
    score.pack(x_, s.numbers.data(), shift_.packing, s.row.data(), s.tile.data(), s.norms.data());
    for (index_t q = 0; q < rounded_.rows(); ++q) {
      score.squared_distances(s.tile.data(), d, rounded_.data() + q * d, s.distances.data());
      std::copy_n(s.distances.data(), here, s.found.data() + q * s.found.ld() + r0);
    }
  }
}

template <class S>
void CandidateDistances<S>::to_labels(index_t first, index_t count, const std::int32_t* labels, Scratch& s) const {
  const index_t d = x_.cols();
  for (index_t r = 0; r < count; ++r) {
    if (labels[r] < 0) {
      s.found(0, r) = std::numeric_limits<S>::infinity();
      continue;
    }
    if (x_.sparse()) {
      sparse_to(first + r, labels[r], s.found(0, r), s);
      continue;
    }
    kernels_.centred(x_, first + r, shift_.wide.data(), s.row.data());
    for (double& value : s.row) value *= scale_;
    s.found(0, r) = static_cast<S>(kernels_.squared_distance(s.row.data(), scaled_.data() + labels[r] * d, d));
  }
}

template <class S>
void CandidateDistances<S>::sparse_to(index_t i, index_t q, S& distance, Scratch& s) const {
  s.row.resize(static_cast<std::size_t>(x_.entries(i)));
  x_.load_entries(i, s.row.data());
  for (double& value : s.row) value *= scale_;
  distance =
      static_cast<S>(sparse_squared_distance(s.row.data(), x_.indices() + x_.pointers()[i], x_.entries(i),
                                             scaled_.data() + q * x_.cols(), norms_[static_cast<std::size_t>(q)]));
}

template class CandidateDistances<float>;
template class CandidateDistances<double>;

}  // namespace ts::inline v0::assign_detail
