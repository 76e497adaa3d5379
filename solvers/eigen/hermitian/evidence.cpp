#include "tallskinny/solvers/eigen/hermitian/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "tallskinny/solvers/eigen/hermitian/lanczos_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::solvers {

bool Evidence::holds_for(std::span<const double> exact) const {
  constexpr double share = 1.0 / 16;
  if (how == Verification::none || exact.size() != values.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(exact[i] - values[i]) <= share * clearance)) return false;
  return true;
}

template <class T>
Evidence evidence_of(const Lanczos<T>& run) {
  constexpr double units = 64;  // of roundoff, that any gap worth the name is wide
  const SpectralTransform& transform = run.accept.transform;
  Evidence found{run.how, wanted_values(run.pairs, transform),
                 clearance_of(run.pairs, transform, run.krylov.all_rows())};
  if (!(found.clearance > units * roundoff_of<T> * run.accept.norm)) found.how = Verification::none;
  return found;
}

template <class T>
void follow(Lanczos<T>& run, const Predecessor& before, index_t steps_per_search) {
  run.krylov.work() += before.work;
  run.before = before.evidence;
  run.course.steps_per_search = steps_per_search;
  if (before.transform.kind != SpectralTransform::Kind::none) install(run, before.transform);
}

template <class T>
Predecessor left_behind(const Lanczos<T>& run) {
  Predecessor left{run.krylov.work(), run.accept.transform};
  left.work.applications += run.course.norm_applications;
  return left;
}

template <class T>
PlacedMatrix<T> leading_vectors(Lanczos<T>& run, index_t more) {
  using R = real_t<T>;
  const WantedPairs<T>& pairs = run.pairs;
  const index_t m = pairs.ritz.size();
  const auto chosen =
      indices_of(grown_ends(pairs.ritz.values, pairs.which, pairs.ends, std::min(more, m - pairs.ends.total())), m);
  auto s = columns_of(pairs.ritz.coefficients, chosen);
  const auto divided = [&](Matrix<T> c) {
    for (index_t j = 0; j < c.cols(); ++j)
      for (index_t i = 0; i < c.rows(); ++i) c(i, j) /= static_cast<R>(pairs.ritz.values[at(chosen[at(j)])]);
    return c;
  };
  if (run.accept.transform.kind == SpectralTransform::Kind::inverse && s.cols() > 0) {
    // Purification by the inverse itself: a computed one is Hermitian only to u times its condition number,
    // and the recurrence below, which takes it for Hermitian, would bring that into the far directions.
    const auto x = combine<T>(run.krylov, divided(std::move(s)).cview());
    return image(run.krylov, x.cview());
  }
  if (!run.accept.transformed()) return combine<T>(run.krylov, s.cview());
  // Purification: x = (nu V s + F B s) / nu
  const auto c = divided(ortho::product<T>(run.krylov.b().cview(), s.cview()));
  return combine<T>(run.krylov, s.cview(), c.cview());
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, evidence_of)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, follow)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, left_behind)
TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, leading_vectors)

}  // namespace ts::inline v0::solvers
