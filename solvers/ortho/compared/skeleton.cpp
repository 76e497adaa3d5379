#include "tallskinny/solvers/ortho/compared/skeleton.hpp"

#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho {

namespace {

int reductions_of(const Muscle& muscle) {
  return std::visit([](const auto& m) { return m.reductions; }, muscle);
}

struct CountsOf {
  int blocks;
  Counts operator()(const BcgsiPlusA&) const { return {2, 2}; }
  Counts operator()(const Bcgs& m) const { return {1 + reductions_of(m.muscle), 2}; }
  Counts operator()(const BcgsiPlus& m) const { return {2 + 2 * reductions_of(m.muscle), 4}; }
  Counts operator()(const BcgsPip&) const { return {1, 2}; }
  Counts operator()(const BcgsPipiPlus&) const { return {2, 4}; }
  Counts operator()(const BcgsiPlusA1s&) const { return {1, 2}; }
  Counts operator()(const BcgsiPlusP1s&) const { return {1, 2}; }
  Counts operator()(const BcgsiPlusP2s& m) const { return {1 + reductions_of(m.muscle), 2}; }
  Counts operator()(const BcgsiPlusAdaptive&) const { return {1, 2}; }
  Counts operator()(const BlockMgs& m) const { return {blocks + reductions_of(m.muscle), 2}; }
  Counts operator()(const RandomisedBcgs&) const { return {3, 1}; }
};

}  // namespace

Counts counts(const Skeleton& skeleton, int blocks) { return std::visit(CountsOf{blocks}, skeleton); }

namespace detail {

template <class T>
Orthonormalised run(Tall<T>& tall, BcgsiPlusA method, HostView<T> x, HostView<T> r, index_t width) {
  Orthonormalised outcome;
  for (index_t j = 0; j < x.cols(); j += width) {
    const index_t b = std::min(width, x.cols() - j);
    const auto block = x.cols(j, b);
    Matrix<T> s(outcome.rank, b), rk(b, b);
    const Extension e = extend<T>(tall, method, x.cols(0, outcome.rank), block, s.view(), rk.view(), false);
    if (e.rung == Rung::failed) return outcome;
    if (outcome.rank < j) copy<T>(block.cols(0, e.rank), x.cols(outcome.rank, e.rank));
    copy<T>(s.view(), r.block(0, j, outcome.rank, b));
    copy<T>(rk.view().rows(0, e.rank), r.block(outcome.rank, j, e.rank, b));
    outcome.rank += e.rank;
    outcome.dead += e.dead;
  }
  outcome.complete = true;
  return outcome;
}

}  // namespace detail

template <class T>
Orthonormalised orthonormalise(const Context& ctx, const Skeleton& skeleton, HostView<T> x, HostView<T> r,
                               index_t width) {
  expects(r.rows() == x.cols() && r.cols() == x.cols(), "R must be p x p for a matrix of p columns");
  expects(width >= 1, "the width of a block must be at least 1");
  set_zero(r);
  Tall<T> tall(ctx);
  Orthonormalised outcome =
      std::visit([&](const auto& method) { return detail::run(tall, method, x, r, width); }, skeleton);
  outcome.work = tall.work();
  return outcome;
}

#define TS_INSTANTIATE(T) \
  template Orthonormalised orthonormalise<T>(const Context&, const Skeleton&, HostView<T>, HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
