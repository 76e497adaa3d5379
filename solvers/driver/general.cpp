#include "tallskinny/solvers/driver/general.hpp"

#include "tallskinny/solvers/eigen/general/similar.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
GeneralInverse<T> general_inverse(const AnyView<T>& matrix, T sigma, const cuda::Stream& gpu) {
  if (matrix.sparse() != nullptr) return GeneralInverse<T>(*matrix.sparse(), sigma, gpu);
  return GeneralInverse<T>(matrix.dense(), sigma);
}

/// A Hermitian matrix that differs by a diagonal scaling alone, with what its search takes; null where there is none.
template <class T>
std::shared_ptr<const SimilarHermitian<T>> similar_problem(const Context& ctx, const AnyView<T>& matrix,
                                                           std::optional<T> target, const EigenOptions& asked) {
  const bool may = matrix.sparse() != nullptr && asked.method == Method::automatic && !ctx.stream;
  const auto similar = may && std::imag(target.value_or(T{})) == 0 ? similar_hermitian<T>(*matrix.sparse()) : nullptr;
  if (!similar) return nullptr;
  EigenOptions options = asked;
  std::optional<double> real;
  if (target) real = std::real(*target);
  const FactorPlan factors{target ? Factorise::needed : Factorise::cheap};
  similar->problem = assemble_or_whole<T>(ctx, matrix.rows(), AnyView<T>(similar->matrix.view()), std::nullopt, real,
                                          factors, {}, options)
                         .problem;
  similar->method = options.method;
  return similar;
}

template <class T>
DeviceCopy<T> copied_where_run(const Context& ctx, const AnyView<T>& matrix) {
  return ctx.stream ? copy_to<T>(ctx.stream, matrix) : DeviceCopy<T>();
}

}  // namespace

template <class T>
GeneralRun<T>::GeneralRun(const Context& ctx, const GeneralInput<T>& input, const EigenOptions& options)
    : ctx_(ctx),
      name_(input.name),
      exponent_(input.a.take_exponent(ctx)),
      options_{input.request.part, scaled(options, -exponent_)},
      announce_(input.announce),
      matrix_(input.a.view()),
      there_(copied_where_run<T>(ctx, matrix_)),
      problem_{operator_of<T>(matrix_, there_)} {
  if (!announce_) announce_ = [](const char*) {};
  if (input.real != nullptr) {
    if (exponent_ != 0) input.real->change([this](AnyMatrix<double>& own) { scale(own, -exponent_); });
    real_ = input.real->view();
  }
  if (input.request.sigma) {
    target_ = scaled(*input.request.sigma, -exponent_);
    if constexpr (is_complex<T>)
      problem_.target = *target_;
    else
      problem_.target = target_->real();
  }
  problem_.similar = similar_problem<T>(ctx, matrix_, problem_.target, options_.common);
  if (problem_.target && !problem_.similar && !is_whole(matrix_.rows(), options_.common)) factorise();
  problem_.adjoint = [this] { return adjoint_problem(); };
}

template <class T>
void GeneralRun<T>::factorise() {
  announce_("factorising A - sigma I");
  try {
    inverse_ = general_inverse<T>(matrix_, *problem_.target, ctx_.stream);
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument || !may_take_over<T>(matrix_.rows(), options_.common)) throw;
    note_ = "no shift beside the target serves a factorisation, so that all eigenvalues are computed";
    return;
  }
  problem_.inverse = at_home<T>(home_of<T>(there_), *inverse_), problem_.shift = inverse_->sigma();
  note_ = inverse_->note();
}

template <class T>
GeneralProblem<T> GeneralRun<T>::adjoint_problem() {
  announce_("asking the adjoint matrix");
  adjoint_ = adjoint_of<T>(matrix_);
  adjoint_there_ = copied_where_run<T>(ctx_, adjoint_);
  GeneralProblem<T> adjoint{operator_of<T>(adjoint_, adjoint_there_)};
  if (!inverse_) return adjoint;
  adjoint.target = conjugate(*problem_.target);
  adjoint.inverse = at_home<T>(home_of<T>(there_), typename GeneralInverse<T>::Adjoint(*inverse_));
  adjoint.shift = conjugate(inverse_->sigma());
  return adjoint;
}

template <class T>
GeneralResult GeneralRun<T>::solve(HostView<const T> initial, const Checkpointing<T>& checkpointing) const {
  auto out = solve_general<T>(ctx_, problem_, options_, initial, checkpointing);
  if (real_) out = with_conjugates(ctx_, operator_of<double>(*real_), std::move(out), *target_, options_);
  if (exponent_ != 0) scale_result(out, exponent_, name_);
  if (options_.common.results == Results::on_device) leave_on_device(ctx_, out);
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_CLASS, GeneralRun)

}  // namespace ts::inline v0::solvers
