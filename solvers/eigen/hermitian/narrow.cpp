#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"

#include <algorithm>
#include <array>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/runtime/compile_ahead.hpp"
#include "tallskinny/gemm/spmm/spmm.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/random_block.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
const Operator<narrow_t<T>>& narrow_of(const EigenProblem<T>& problem) {
  expects(problem.narrow && problem.narrow->rows() == problem.a.rows(),
          "`precision` float32 and mixed need the operator in float32 as well");
  expects(problem.narrow->space() == problem.a.space(), "the operator in float32 is elsewhere than that in float64");
  return *problem.narrow;
}

/// A X, where X is.
template <class T>
PlacedMatrix<T> image_of(const Context& ctx, const Operator<T>& a, const PlacedMatrix<T>& x) {
  PlacedMatrix<T> y(ctx, x.space(), x.rows(), x.cols());
  a.apply(ctx, x.cview(), y.view());
  return y;
}

/// Block steps that a refinement takes at least and at most, and the basis that it needs, in blocks of its
/// width. With that few between restarts it must not take many: blocks so wide converge slowly.
constexpr index_t least_steps = 4, most_steps = 24, refining_blocks = 4;

index_t refining_basis(const EigenPlan& plan, index_t width) {
  return std::max(plan.max_basis, refining_blocks * width);
}

/// Residuals in float32 miss what rounding adds: half of the tolerance is left to that.
EigenOptions with_half_the_tolerance(EigenOptions options) {
  options.tol *= 0.5;
  return options;
}

/// Half of the steps are left to float64, should float32 not come far enough.
EigenPlan first_part_of(EigenPlan plan, const EigenOptions& options) {
  if (options.precision == Precision::mixed) plan.max_iterations -= plan.max_iterations / 2;
  return plan;
}

}  // namespace

template <class T>
NarrowLanczos<T>::NarrowLanczos(const Context& ctx, const EigenProblem<T>& problem, const EigenOptions& options,
                                const EigenPlan& plan, HostView<const T> initial, EigenResult<T>& record)
    : ctx_(ctx),
      problem_(problem),
      options_(options),
      plan_(plan),
      narrow_options_(with_half_the_tolerance(options)),
      narrow_plan_(first_part_of(plan, options)),
      narrow_problem_{narrow_of(problem)},
      initial_(initial),
      record_(record),
      narrow_initial_(cast<N, T>(ctx, initial)) {
  narrow_.emplace(ctx, narrow_problem_, narrow_options_, narrow_plan_, narrow_initial_.cview(), no_narrow_checkpoints_,
                  narrow_record_);
}

template <class T>
void NarrowLanczos<T>::take_over() const {
  const auto& of = narrow_record_;
  EigenResult<T>& record = record_;
  record.history = of.history, record.norm = of.norm, record.seconds = of.seconds;
  record.iterations = of.iterations, record.restarts = of.restarts;
  record.dead_directions = of.dead_directions, record.filter_degree = of.filter_degree;
  record.operator_applications = record.narrow_applications = of.operator_applications;
  record.verification_rounds = of.verification_rounds;
  record.verification_applications = of.verification_applications;
}

/// Is `narrow` the operator but for rounding, as far as random vectors tell? What was found with another one
/// may be a good start, but is no evidence.
template <class T>
bool NarrowLanczos<T>::agree(double norm) const {
  constexpr index_t columns = 4;
  constexpr double units = 64;  // of roundoff
  PlacedMatrix<N> random(ctx_, problem_.a.space(), problem_.a.rows(), columns);
  fill_random<N>(ctx_, options_.seed, ~std::uint64_t{0}, random.view());
  const auto x = cast<T, N>(ctx_, random.cview());
  const auto rounded = cast<T, N>(ctx_, image_of(ctx_, *problem_.narrow, random).cview());
  auto difference = image_of(ctx_, problem_.a, x);
  Matrix<T> identity(columns, columns);
  ortho::set_identity(identity.view());
  ortho::Tall<T> tall(ctx_);
  tall.combine(T{-1}, rounded.cview(), identity.cview(), T{1}, difference.view());
  std::array<double, columns> lengths{}, differences{};
  tall.norms(x.cview(), lengths);
  tall.norms(difference.cview(), differences);
  for (std::size_t j = 0; j < columns; ++j)
    if (!(differences.at(j) <= units * roundoff_of<N> * norm * lengths.at(j))) return false;
  return true;
}

template <class T>
Evidence NarrowLanczos<T>::evidence() const {
  auto found = evidence_of(*narrow_);
  if (found.how != Verification::none && !agree(narrow_record_.norm)) found.how = Verification::none;
  return found;
}

/// The Ritz vectors of float32, and a few more, become the start block of a run in float64.
template <class T>
void NarrowLanczos<T>::refine() {
  start_ = cast<T, N>(ctx_, leading_vectors(*narrow_, with_guards(plan_.nev) - plan_.nev).cview());
  auto before = left_behind(*narrow_);
  before.evidence = evidence();
  narrow_.reset();
  EigenPlan plan = plan_;
  plan.max_basis = refining_basis(plan_, start_.cols());
  wide_.emplace(ctx_, problem_, options_, plan, start_.cview(), no_checkpoints_, record_);
  follow(*wide_, before, most_steps);
  refining_ = true;
}

/// A run in float64 that knows no more than the polynomial.
template <class T>
void NarrowLanczos<T>::go_on_alone(const Predecessor& before) {
  narrow_.reset(), wide_.reset();
  wide_.emplace(ctx_, problem_, options_, plan_, initial_, no_checkpoints_, record_);
  follow(*wide_, before);
  refining_ = false;
}

template <class T>
Iterated<T> NarrowLanczos<T>::run() {
  using ts::solvers::run;
  EigenResult<T>& record = record_;
  if (narrow_) {
    auto found = run(*narrow_);
    take_over();
    const bool done = found.stop == StopReason::interrupted || options_.precision == Precision::float32;
    if (done || record.iterations + least_steps > plan_.max_iterations) {
      Iterated<T> out;
      out.vectors = cast<T, N>(ctx_, found.vectors.cview());
      out.stop = done ? found.stop : StopReason::max_iterations;
      out.evidence = evidence();
      out.verification = out.evidence->how;
      out.next_value = found.next_value;
      return out;
    }
    if (found.stop == StopReason::max_iterations)
      go_on_alone(left_behind(*narrow_));
    else
      refine();
  }
  auto out = run(*wide_);
  if (refining_ && out.stop == StopReason::max_iterations && record.iterations < plan_.max_iterations) {
    go_on_alone(left_behind(*wide_));
    out = run(*wide_);
  }
  record.verification_applications += narrow_record_.verification_applications;
  return out;
}

template <class T>
void NarrowLanczos<T>::tighten() {
  if (narrow_)
    ts::solvers::tighten(*narrow_);
  else
    ts::solvers::tighten(*wide_);
}

namespace {

/// What stands for a matrix of so many rows and entries where nothing is carried out.
template <class T>
CsrView<T, Space::device> stand_in(const cuda::Memory& somewhere, index_t rows, index_t nonzeros) {
  CsrView<T, Space::device> a;
  a.rows = a.cols = rows, a.stored = nonzeros, a.pointers = static_cast<const index_t*>(somewhere.data());
  return a;
}

/// Products with a matrix and with polynomials of it.
template <class T>
void prepare_products(const Context& ctx, index_t rows, index_t nonzeros, index_t width) {
  compile_ahead(ctx, [&](const Context& rehearsal) {
    const PlacedMatrix<T> x(rehearsal, Space::device, rows, width);
    PlacedMatrix<T> y(rehearsal, Space::device, rows, width);
    const cuda::Memory somewhere(rehearsal.stream, 256);
    const auto a = stand_in<T>(somewhere, rows, nonzeros);
    const auto from = x.cview().template in<Space::device>();
    const auto to = y.view().template in<Space::device>();
    spmm(rehearsal, Op::none, T{1}, a, from, T{0}, to);
    spmm_shifted(rehearsal, T{1}, a, T{1}, from, T{0}, to);
    spmm_shifted(rehearsal, T{1}, a, T{1}, from, T{1}, to);
  });
}

template <class T>
void prepare_run(const Context& ctx, index_t rows, index_t nonzeros, index_t columns, index_t width, index_t wanted) {
  prepare_products<T>(ctx, rows, nonzeros, width);
  prepare_block_steps<T>(ctx, rows, columns + width, width, wanted);
}

}  // namespace

template <class T>
void prepare_lanczos(const Context& ctx, index_t rows, index_t nonzeros, const EigenPlan& plan, Precision precision) {
  const index_t block = plan.block_size;
  // One rehearsal for all of it, so that all kernels are compiled together.
  compile_ahead(ctx, [&](const Context& all) {
    const cuda::Memory somewhere(all.stream, 256);
    rehearse_finish<T>(all, stand_in<T>(somewhere, rows, nonzeros), plan.nev);
    if (precision == Precision::float64) return prepare_run<T>(all, rows, nonzeros, plan.max_basis, block, plan.nev);
    prepare_run<narrow_t<T>>(all, rows, nonzeros, plan.max_basis, block, with_guards(plan.nev));
    if (precision == Precision::float32) return;
    const index_t width = with_guards(plan.nev);
    prepare_run<T>(all, rows, nonzeros, refining_basis(plan, width), width, plan.nev);
    prepare_block_steps<T>(all, rows, norm_columns, norm_block,
                           norm_block);  // begins with a transform, so asks for ||A||
  });
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, NarrowLanczos)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, prepare_lanczos)

}  // namespace ts::inline v0::solvers
