#include "tallskinny/solvers/driver/eigs.hpp"

#include "tallskinny/solvers/driver/general.hpp"
#include "tallskinny/solvers/eigen/result/finish.hpp"
#include "tallskinny/solvers/one_rank.hpp"
#include "tallskinny/solvers/setup/hermitian_check.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr const char* matrix_of_eigs = "the matrix given to eigs()";

/// Eigenvalues of a real matrix near a complex number.
EigsResult near_complex(const Context& ctx, Borrowed<double>& real, index_t k, const EigsOptions<double>& o) {
  using Complex = std::complex<double>;
  auto a = std::visit([](const auto& kind) { return Borrowed<Complex>(kind); },
                      static_cast<const AnyView<double>::variant&>(real.view()));
  Matrix<Complex> initial(o.initial.rows(), o.initial.cols());
  for (index_t i = 0; i < initial.rows(); ++i)
    for (index_t j = 0; j < initial.cols(); ++j) initial(i, j) = o.initial(i, j);
  const GeneralRun<Complex> run(ctx, {a, &real, matrix_of_eigs, {o.part, o.sigma}}, options_for(o, k));
  return {run.solve(initial.cview(), {}), run.note()};
}

}  // namespace

template <class T>
EigsResult driver::eigs(const Context& ctx, Borrowed<T>&& a, index_t k, const EigsOptions<T>& o) {
  const UseHostMemory use(ctx.host_memory);
  const AnyView<T>& view = a.view();
  expects_place_of_results(ctx, o);
  expects_one_rank(ctx, "eigs()");
  expects(view.rows() == view.cols(), "eigs() needs a square matrix: svds() takes any");
  expects(o.initial.cols() == 0 || o.initial.rows() == view.rows(),
          "`initial` of eigs() has other rows than the matrix");
  expect_finite<T>(matrix_of_eigs, view);
  if constexpr (!is_complex<T>)
    if (o.sigma && o.sigma->imag() != 0) return near_complex(ctx, a, k, o);
  const GeneralRun<T> run(ctx, {a, nullptr, matrix_of_eigs, {o.part, o.sigma}}, options_for(o, k));
  return {run.solve(o.initial, o.checkpointing), run.note()};
}

template <class T>
EigsResult eigs(const Context& ctx, const Operator<T>& a, index_t k, const std::type_identity_t<EigsOptions<T>>& o) {
  const UseHostMemory use(ctx.host_memory);
  expects_place_of_results(ctx, o);
  expects(!o.sigma, "eigs() of an Operator takes no `sigma`: GeneralProblem takes its inverse");
  EigsResult out{solve_general<T>(ctx, GeneralProblem<T>{a}, {o.part, options_for(o, k)}, o.initial, o.checkpointing),
                 {}};
  if (o.results == Results::on_device) leave_on_device(ctx, out);
  return out;
}

TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, driver::eigs)
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, eigs)

}  // namespace ts::inline v0::solvers
