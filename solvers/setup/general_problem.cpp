#include "tallskinny/solvers/setup/general_problem.hpp"

#include "tallskinny/solvers/eigen/general/similar.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

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
GeneralAssembled<T> assemble_general(const Context& ctx, const AnyView<T>& matrix, std::optional<T> target,
                                     const EigenOptions& options, const std::function<void(const char*)>& note) {
  const auto announce = [note](const char* line) {
    if (note) note(line);
  };
  const auto kept = std::make_shared<typename GeneralAssembled<T>::Kept>();
  kept->there = copied_where_run<T>(ctx, matrix);
  GeneralAssembled<T> out{{operator_of<T>(matrix, kept->there)}, {}, kept};
  std::optional<GeneralInverse<T>> inverse;
  out.problem.target = target;
  out.problem.similar = similar_problem<T>(ctx, matrix, target, options);
  if (target && !out.problem.similar && !is_whole(matrix.rows(), options)) {
    announce("factorising A - sigma I");
    try {
      inverse = general_inverse<T>(matrix, *target, ctx.stream);
    } catch (const Error& error) {
      if (error.code() != Errc::invalid_argument || !may_take_over<T>(matrix.rows(), options)) throw;
      out.note = "no shift beside the target serves a factorisation, so that all eigenvalues are computed";
    }
  }
  if (inverse) {
    out.problem.inverse = at_home<T>(home_of<T>(kept->there), *inverse), out.problem.shift = inverse->sigma();
    out.note = inverse->note();
  }
  out.problem.adjoint = [ctx, matrix, target, announce, inverse, kept] {
    announce("asking the adjoint matrix");
    kept->adjoint = adjoint_of<T>(matrix);
    kept->adjoint_there = copied_where_run<T>(ctx, kept->adjoint);
    GeneralProblem<T> adjoint{operator_of<T>(kept->adjoint, kept->adjoint_there)};
    if (!inverse) return adjoint;
    adjoint.target = conjugate(*target);
    adjoint.inverse = at_home<T>(home_of<T>(kept->there), typename GeneralInverse<T>::Adjoint(*inverse));
    adjoint.shift = conjugate(inverse->sigma());
    return adjoint;
  };
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, assemble_general)

}  // namespace ts::inline v0::solvers
