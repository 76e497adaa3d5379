// Degenerate problems with known spectra, and the judge of an answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"

namespace ts::test {

struct DegenerateProblem {
  std::string name;
  std::variant<CsrMatrix<double>, CsrMatrix<std::complex<double>>> matrix;
  solvers::Which which;
  index_t nev;
  std::vector<double> exact;  ///< ascending
  bool inverse = false;
  double sigma = 0;
};

inline std::vector<DegenerateProblem> degenerate_problems() {
  namespace g = ts::generators;
  using solvers::Which;
  std::vector<DegenerateProblem> all;
  all.push_back({"ring(1000) LA 10", g::laplacian({1000}, g::Boundary::ring), Which::LA, 10,
                 g::laplacian_spectrum({1000}, g::Boundary::ring).largest(10)});
  all.push_back({"lap3d 20^3 SA 20", g::laplacian({20, 20, 20}), Which::SA, 20,
                 g::laplacian_spectrum({20, 20, 20}).smallest(20)});
  all.push_back({"8 x lap1d(100) SA 16", g::laplacian_copies(8, 100), Which::SA, 16,
                 g::laplacian_copies_spectrum(8, 100).smallest(16)});
  all.push_back({"hypercube(11) SA 12", g::hypercube(11), Which::SA, 12, g::hypercube_spectrum(11).smallest(12)});
  all.push_back({"graphene 24x24 LA 13", g::graphene(24, 24), Which::LA, 13, g::graphene_spectrum(24, 24).largest(13)});
  all.push_back({"flux ring(1000, 0.3) SA 10", g::flux_ring(1000, 0.3), Which::SA, 10,
                 g::flux_ring_spectrum(1000, 0.3).smallest(10)});
  all.push_back({"identity(500) LA 5", g::identity(500), Which::LA, 5, std::vector<double>(5, 1.0)});
  all.push_back({"diag clusters(2000, 250) LA 8", g::diagonal_clusters(2000, 250, 0), Which::LA, 8,
                 g::diagonal_clusters_spectrum(2000, 250, 0).largest(8)});
  all.push_back({"Clement(200) SM 6", g::clement(200), Which::SM, 6, g::clement_spectrum(200).nearest(0, 6), true, 0});
  return all;
}

/// Harder ones: multiplicities beyond the block, other ends, tiny gaps.
inline std::vector<DegenerateProblem> harder_problems() {
  namespace g = ts::generators;
  using solvers::Which;
  std::vector<DegenerateProblem> all;
  all.push_back({"32 x lap1d(60) SA 40", g::laplacian_copies(32, 60), Which::SA, 40,
                 g::laplacian_copies_spectrum(32, 60).smallest(40)});
  all.push_back({"32 x lap1d(60) SA 16", g::laplacian_copies(32, 60), Which::SA, 16,
                 g::laplacian_copies_spectrum(32, 60).smallest(16)});
  all.push_back(
      {"complete(1500) LA 20", g::complete_graph(1500), Which::LA, 20, g::complete_graph_spectrum(1500).largest(20)});
  all.push_back(
      {"complete(1500) SA 3", g::complete_graph(1500), Which::SA, 3, g::complete_graph_spectrum(1500).smallest(3)});
  all.push_back({"hypercube(12) LA 14", g::hypercube(12), Which::LA, 14, g::hypercube_spectrum(12).largest(14)});
  all.push_back({"hypercube(11) SA 70", g::hypercube(11), Which::SA, 70, g::hypercube_spectrum(11).smallest(70)});
  all.push_back(
      {"graphene 24x24 LM 13", g::graphene(24, 24), Which::LM, 14, g::graphene_spectrum(24, 24).largest_magnitude(14)});
  all.push_back({"XX chain 11 SA 12", g::xx_chain(11), Which::SA, 12, g::xx_chain_spectrum(11).smallest(12)});
  all.push_back({"identity(3000) SA 30", g::identity(3000), Which::SA, 30, std::vector<double>(30, 1.0)});
  all.push_back({"ring(1001) BE 9", g::laplacian({1001}, g::Boundary::ring), Which::BE, 9, [] {
                   const auto s = g::laplacian_spectrum({1001}, g::Boundary::ring);
                   auto v = s.smallest(4);
                   const auto h = s.largest(5);
                   v.insert(v.end(), h.begin(), h.end());
                   return v;
                 }()});
  all.push_back({"sakurai(1000) SM 8", g::sakurai(1000), Which::SM, 8, g::sakurai_spectrum(1000).smallest(8), true, 0});
  all.push_back({"lap2d 40x40 near 3", g::laplacian({40, 40}), Which::SM, 9,
                 g::laplacian_spectrum({40, 40}).nearest(3, 9), true, 3});
  return all;
}

struct Judged {
  bool right = false, verified = false;
  double worst = 0;  ///< largest error of an eigenvalue
  double loss = 0;
  std::string reason;
};

inline Judged judge(const Context& ctx, const DegenerateProblem& p, solvers::EigenOptions options) {
  options.nev = p.nev, options.which = p.which;
  return std::visit(
      [&](const auto& a) {
        using T = typename std::decay_t<decltype(a)>::value_type;
        solvers::EigenProblem<T> problem{solvers::CsrOperator<T>(a.view())};
        std::optional<solvers::ShiftInvert<T>> factor;
        if (p.inverse) {
          factor.emplace(a.view(), p.sigma);
          problem.inverse = solvers::Operator<T>(*factor), problem.shift = factor->sigma(), problem.target = p.sigma;
        }
        const auto r = solvers::solve_eigen<T>(ctx, problem, options);
        Judged j;
        auto values = r.values;
        std::sort(values.begin(), values.end());
        auto exact = p.exact;
        std::sort(exact.begin(), exact.end());
        double largest = 1;
        for (const double v : exact) largest = std::max(largest, std::abs(v));
        j.worst = values.size() == exact.size() ? 0 : INFINITY;
        for (std::size_t i = 0; i < std::min(values.size(), exact.size()); ++i)
          j.worst = std::max(j.worst, std::abs(values[i] - exact[i]));
        j.right = j.worst <= 10 * options.tol * largest;
        j.verified = r.verified, j.loss = r.orthogonality_loss, j.reason = r.reason;
        return j;
      },
      p.matrix);
}

}  // namespace ts::test
