#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/svd/svd.hpp"
#include "tallskinny/tests/bench/baseline/solved.hpp"
#include "tallskinny/tests/solvers/ortho/blocks.hpp"

namespace ts::baseline {

namespace {

using solvers::GeneralWhich;
using solvers::Which;

void add(Hash& hash, const solvers::GeneralResult& r) {
  hash.add(r.values).add(r.vectors).add(r.residual_norms).add(r.conditions).add(r.converged_pairs);
  hash.add(r.converged).add(r.verified).add(r.verification).add(r.stop).text(r.reason).add(r.iterations);
  hash.add(r.operator_applications).add(r.restarts).add(r.verification_rounds).add(r.norm);
}

template <class T>
void print_parts(const std::string& matrix, const CsrMatrix<T>& a) {
  const auto adjoint = solvers::adjoint_of(a.view());
  for (const auto& [name, part] : {std::pair{"LM", GeneralWhich::LM},
                                   {"LR", GeneralWhich::LR},
                                   {"SR", GeneralWhich::SR},
                                   {"LI", GeneralWhich::LI},
                                   {"SI", GeneralWhich::SI}})
    for (const bool searched : {true, false}) {
      solvers::GeneralProblem<T> problem{solvers::CsrOperator<T>(a.view())};
      problem.adjoint = [&adjoint] { return solvers::GeneralProblem<T>{solvers::CsrOperator<T>(adjoint.view())}; };
      solvers::GeneralOptions o;
      o.part = part, o.common.nev = 4;
      if (searched)
        o.common.tol = 1e-6, o.common.max_iterations = 60;
      else
        o.common.method = solvers::Method::dense;
      item("general " + matrix + " " + name + (searched ? " searched" : " dense"),
           [&](Hash& hash) { add(hash, solvers::solve_general<T>(plain_context(), problem, o)); });
    }
}

void print_pencil(index_t n) {
  const generators::Pencil p = generators::mikota(n);
  const solvers::MassFactor<double> factor(p.mass.view());
  for (const auto& [name, which] : {std::pair{"LA", Which::LA}, {"SA", Which::SA}}) {
    solvers::EigenProblem<double> problem{factor.standard(solvers::CsrOperator<double>(p.stiffness.view()))};
    problem.count_below = solvers::InertiaCounter<double>(p.stiffness.view(), 0, p.mass.view(), factor.least());
    problem.invert = [&](double sigma) -> std::optional<solvers::ShiftedInverse<double>> {
      const solvers::ShiftInvert<double> inverse(p.stiffness.view(), sigma, p.mass.view());
      return solvers::ShiftedInverse<double>{factor.standard_inverse(inverse), inverse.sigma()};
    };
    solvers::EigenOptions o;
    o.nev = 5, o.which = which;
    item("mass mikota " + std::to_string(n) + " " + name, [&](Hash& hash) {
      auto r = solvers::solve_eigen<double>(plain_context(), problem, o);
      const auto checks = solvers::to_pencil<double>(plain_context(), solvers::CsrOperator<double>(p.stiffness.view()),
                                                     p.mass.view(), factor, o, r);
      add(hash, r);
      hash.add(checks.backward_errors);
    });
  }
}

template <class T>
void print_svd(const std::string& matrix, const solvers::SvdProblem<T>& problem) {
  for (const auto& [name, which] : {std::pair{"largest", Which::LM}, {"smallest", Which::SM}})
    for (const index_t steps : {0, 4000}) {  // given, the search goes on where all would be computed
      solvers::EigenOptions o;
      o.nev = 4, o.which = which, o.max_iterations = steps;
      item("svd " + matrix + " " + name + (steps > 0 ? " searched" : ""), [&](Hash& hash) {
        const auto r = solvers::solve_svd<T>(plain_context(), problem, o);
        add(hash, r.triplets);
        hash.add(r.left).add(r.stage);
      });
    }
}

template <class T>
void print_orthonormal() {
  const auto print = [](const char* method, const auto& orthonormalise) {
    item("orthonormalise " + std::string(name_of(dtype_of<T>)) + " " + method, [&](Hash& hash) {
      Matrix<T> x = test::graded_block<T>(1000, 24, -5, 0, 3), r(24, 24);
      orthonormalise(x.view(), r.view());
      hash.add(x).add(r);
    });
  };
  print("default", [](auto x, auto r) { test::orthonormalise<T>(plain_context(), x, r, 6); });
  print("HouseholderQR",
        [](auto x, auto r) { ortho::orthonormalise<T>(plain_context(), ortho::HouseholderQr{}, x, r); });
}

}  // namespace

void print_general() {
  namespace g = generators;
  print_parts<double>("toeplitz", g::toeplitz(150, 0.9, 1, 1.1));
  print_parts<double>("circulant", g::circulant(200, {1, 2, 4}));
  print_parts<std::complex<double>>("flux ring", g::flux_ring(150, 0.3));
  print_pencil(40), print_pencil(700);
  const auto lauchli = g::lauchli(300, 0.01);
  print_svd<double>("lauchli", {solvers::rectangular<double>(lauchli.view()), {}, lauchli.view()});
  const auto grid = g::laplacian({35, 35});
  print_svd<double>("lap2d", {solvers::rectangular<double>(grid.view()), {}, grid.view()});
  const Matrix<double> graded = test::graded_block<double>(900, 120, -3, 0, 5);
  print_svd<double>("graded", {solvers::rectangular<double>(graded.cview()), graded.cview()});
  const auto complex = test::graded_block<std::complex<double>>(400, 60, -9, 0, 5);
  print_svd<std::complex<double>>("complex",
                                  {solvers::rectangular<std::complex<double>>(complex.cview()), complex.cview()});
#define TS_CASE(T) print_orthonormal<T>();
  TS_FOR_EACH_RESULT_TYPE(TS_CASE)
#undef TS_CASE
}

}  // namespace ts::baseline
