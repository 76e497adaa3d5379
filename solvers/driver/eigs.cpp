#include "tallskinny/solvers/driver/eigs.hpp"

#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/setup/general_problem.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"
#include "tallskinny/solvers/setup/scale.hpp"

namespace ts::inline v0::solvers {

namespace {

template <class T>
GeneralOptions general_options(const EigsOptions<T>& o, index_t k, int exponent) {
  GeneralOptions options{o.part, scaled(static_cast<const EigenOptions&>(o), -exponent)};
  options.common.nev = k;
  return options;
}

EigsResult finished(const Context& ctx, const EigenOptions& options, GeneralResult found, int exponent,
                    std::string note) {
  EigsResult out{std::move(found), std::move(note)};
  if (exponent != 0) scale_result(out, exponent, "the matrix given to eigs()");
  if (options.results == Results::on_device) leave_on_device(ctx, out);
  return out;
}

/// Eigenvalues of a real matrix near a complex number.
EigsResult near_complex(const Context& ctx, const AnyView<double>& a, index_t k, const EigsOptions<double>& o,
                        int exponent) {
  using Complex = std::complex<double>;
  const auto complex_a = std::visit([](const auto& kind) { return Borrowed<Complex>(kind); },
                                    static_cast<const AnyView<double>::variant&>(a));
  const auto target = scaled(*o.sigma, -exponent);
  const auto assembled = assemble_general<Complex>(ctx, complex_a.view(), target, o);
  Matrix<Complex> initial(a.rows(), o.initial.cols());
  for (index_t i = 0; i < initial.rows(); ++i)
    for (index_t j = 0; j < initial.cols(); ++j) initial(i, j) = o.initial(i, j);
  const GeneralOptions options = general_options(o, k, exponent);
  auto found = solve_general<Complex>(ctx, assembled.problem, options, initial.cview());
  return finished(ctx, o, with_conjugates(ctx, operator_of<double>(a), std::move(found), target, options), exponent,
                  assembled.note);
}

}  // namespace

template <class T>
EigsResult driver::eigs(const Context& ctx, const Borrowed<T>& borrowed, index_t k, const EigsOptions<T>& o) {
  const UseHostMemory use(ctx.host_memory);
  AnyView<T> a = borrowed.view();
  expects_place_of_results(ctx, o);
  expects(a.rows() == a.cols(), "eigs() needs a square matrix: svds() takes any");
  expects(o.initial.cols() == 0 || o.initial.rows() == a.rows(), "`initial` of eigs() has other rows than the matrix");
  expects_one_rank(ctx, "eigs()");
  expect_finite<T>("the matrix given to eigs()", a);
  AnyMatrix<T> own;
  const int exponent = take_exponent<T>(ctx, a, own);
  std::optional<T> target;
  if (o.sigma) {
    if constexpr (!is_complex<T>)
      if (o.sigma->imag() != 0) return near_complex(ctx, a, k, o, exponent);
    target = as_scalar<T>(scaled(*o.sigma, -exponent));
  }
  const auto assembled = assemble_general<T>(ctx, a, target, o);
  return finished(ctx, o,
                  solve_general<T>(ctx, assembled.problem, general_options(o, k, exponent), o.initial, o.checkpointing),
                  exponent, assembled.note);
}

template <class T>
EigsResult eigs(const Context& ctx, const Operator<T>& a, index_t k, const std::type_identity_t<EigsOptions<T>>& o) {
  const UseHostMemory use(ctx.host_memory);
  expects_place_of_results(ctx, o);
  expects(!o.sigma, "eigs() of an Operator takes no `sigma`: GeneralProblem takes its inverse");
  return finished(
      ctx, o, solve_general<T>(ctx, GeneralProblem<T>{a}, general_options(o, k, 0), o.initial, o.checkpointing), 0, {});
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::eigs)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, eigs)

}  // namespace ts::inline v0::solvers
