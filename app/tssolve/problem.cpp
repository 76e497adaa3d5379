#include "tallskinny/app/tssolve/problem.hpp"

#include "tallskinny/solvers/eigen/lobpcg.hpp"
#include "tallskinny/solvers/eigen/shift_invert.hpp"

namespace ts::app::tssolve {

namespace {

/// A factorisation that takes at most a fraction of a second is worth a proof of completeness.
constexpr double cheap_flops = 2e8;

}  // namespace

template <class T>
solvers::Operator<T> operator_of(const AnyMatrix<T>& matrix) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) return solvers::CsrOperator<T>(sparse->view());
  return solvers::DenseOperator<T>(std::get<Matrix<T>>(matrix).view());
}

template <class T>
DeviceCopy<T> copy_to(const cuda::Stream& stream, const AnyMatrix<T>& matrix) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix))
    return DeviceCsrMatrix<T>(stream, sparse->view());
  const auto& dense = std::get<Matrix<T>>(matrix);
  DeviceMatrix<T> there(stream, dense.rows(), dense.cols());
  copy(stream, there.view(), dense.view());
  stream.synchronize();
  return there;
}

template <class T>
solvers::Operator<T> operator_of(const AnyMatrix<T>& matrix, const DeviceCopy<T>& there) {
  if (const auto* sparse = std::get_if<DeviceCsrMatrix<T>>(&there))
    return solvers::CsrOperator<T>(std::get<CsrMatrix<T>>(matrix).view(), sparse->view());
  return solvers::DenseOperator<T>(std::get<Matrix<T>>(matrix).view(),
                                   std::get<DeviceMatrix<T>>(there).cview());
}

template <class T>
Assembled<T> assemble(const AnyMatrix<T>& matrix, const std::optional<CsrMatrix<T>>& mass,
                      std::optional<double> target, Factorise factorise) {
  Assembled<T> out{solvers::EigenProblem<T>{operator_of<T>(matrix)}, std::nullopt, {}};
  auto& problem = out.problem;
  problem.target = target;
  CsrView<T> m{};
  double mass_least = 1;
  if (mass) {
    m = mass->view();
    out.factor.emplace(m);
    mass_least = out.factor->least();
    problem.a = out.factor->standard(problem.a);
  }
  if (factorise == Factorise::nothing) return out;
  const auto standard = [factor = out.factor](solvers::Operator<T> inverse) {
    return factor ? factor->standard_inverse(std::move(inverse)) : inverse;
  };
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    const auto a = sparse->view();
    if (target) {
      const solvers::ShiftInvert<T> inverse(a, *target, m);
      problem.inverse = standard(inverse), problem.shift = inverse.sigma(), out.note = inverse.note();
    }
    problem.count_below =
        solvers::InertiaCounter<T>(a, factorise == Factorise::needed ? 0 : cheap_flops, m, mass_least);
    // Called only after a count at the same shift, so only where a factorisation is needed or cheap.
    if (!target)
      problem.invert = [a, m, standard](double sigma) -> std::optional<solvers::ShiftedInverse<T>> {
        const solvers::ShiftInvert<T> inverse(a, sigma, m);
        return solvers::ShiftedInverse<T>{standard(inverse), inverse.sigma()};
      };
  } else if (target) {
    const solvers::DenseShiftInvert<T> inverse(std::get<Matrix<T>>(matrix).view(), *target, m);
    problem.inverse = standard(inverse), problem.shift = inverse.sigma(), out.note = inverse.note();
  }
  return out;
}

template <class T>
solvers::Operator<T> jacobi_of(const AnyMatrix<T>& matrix,
                               const std::optional<solvers::MassFactor<T>>& factor) {
  std::vector<double> diagonal;
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix)) {
    diagonal.assign(static_cast<std::size_t>(sparse->rows), 0.0);
    const auto a = sparse->view();
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k)
        if (a.indices[k] == i) diagonal[static_cast<std::size_t>(i)] += std::real(a.values[k]);
  } else {
    const auto& dense = std::get<Matrix<T>>(matrix);
    for (index_t i = 0; i < dense.rows(); ++i) diagonal.push_back(std::real(dense(i, i)));
  }
  solvers::Operator<T> jacobi = solvers::Jacobi<T>(std::move(diagonal));
  return factor ? factor->standard_inverse(std::move(jacobi)) : jacobi;
}

#define TS_INSTANTIATE(T)                                                                    \
  template solvers::Operator<T> operator_of<T>(const AnyMatrix<T>&);                         \
  template DeviceCopy<T> copy_to<T>(const cuda::Stream&, const AnyMatrix<T>&);               \
  template solvers::Operator<T> operator_of<T>(const AnyMatrix<T>&, const DeviceCopy<T>&);   \
  template solvers::Operator<T> jacobi_of<T>(const AnyMatrix<T>&,                            \
                                             const std::optional<solvers::MassFactor<T>>&);  \
  template Assembled<T> assemble<T>(const AnyMatrix<T>&, const std::optional<CsrMatrix<T>>&, \
                                    std::optional<double>, Factorise);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
