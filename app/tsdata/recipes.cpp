#include "tallskinny/app/tsdata/recipes.hpp"

#include <algorithm>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tsdata {

namespace g = generators;

namespace {

constexpr index_t most_columns = INT32_MAX;

/// --n as exactly one number.
index_t one_size(const Parameters& p) {
  expects(p.sizes.size() == 1, "--n: expected one number for this kind");
  return p.sizes[0];
}

/// --n as `count` numbers; one number stands for all of them.
std::vector<index_t> sizes(const Parameters& p, std::size_t count) {
  if (p.sizes.size() == count) return p.sizes;
  if (p.sizes.size() != 1)
    throw Error(Errc::invalid_argument, "--n: expected one number or " + std::to_string(count) + ", like 20 or " +
                                            (count == 1   ? "1000"
                                             : count == 2 ? "20x30"
                                                          : "20x30x40"));
  return std::vector<index_t>(count, p.sizes[0]);
}

index_t points(const std::vector<index_t>& sizes) {
  index_t n = 1;
  for (const index_t size : sizes)
    if (__builtin_mul_overflow(n, size, &n) || n > most_columns)
      throw Error(Errc::invalid_argument, "--n: the matrix would have more than 2^31 - 1 rows");
  return n;
}

int exponent(const Parameters& p, const char* sentence) {
  const index_t d = one_size(p);
  expects(d >= 0 && d <= 30, sentence);
  return static_cast<int>(d);
}

template <class T>
BuiltMatrix built(CsrMatrix<T> matrix) {
  return io::SparseMatrix(std::move(matrix));
}
BuiltMatrix built(Matrix<double> matrix) { return io::DenseMatrix(std::move(matrix)); }

template <class Build>
Recipe square(index_t n, index_t entries, Build build, io::Structure structure = io::Structure::symmetric) {
  Recipe recipe;
  recipe.rows = recipe.cols = n;
  recipe.entries = entries;
  recipe.structure = structure;
  recipe.build = [build] { return built(build()); };
  return recipe;
}

template <class Build>
Ingredients dense(index_t n, io::Structure structure, Build build, std::function<g::Spectrum()> spectrum = nullptr) {
  index_t entries = 0;
  if (__builtin_mul_overflow(n, n, &entries))
    throw Error(Errc::invalid_argument, "--n: the matrix would have more than 2^63 elements");
  Recipe recipe = square(n, entries, build, structure);
  recipe.dense = true;
  return {{std::move(recipe)}, std::move(spectrum), nullptr};
}

MatrixKind grid(const std::string& name, std::size_t dimensions, const std::string& arguments,
                const std::string& summary) {
  return {name, arguments, summary, {"n", "boundary"}, [dimensions](const Parameters& p) -> Ingredients {
            const auto s = sizes(p, dimensions);
            const index_t n = points(s);
            return {{square(n, n * (2 * std::ssize(s) + 1), [=, b = p.boundary] { return g::laplacian(s, b); })},
                    [=, b = p.boundary] { return g::laplacian_spectrum(s, b); },
                    nullptr};
          }};
}

std::vector<MatrixKind> laplacians() {
  return {
      grid("lap1d", 1, "--n N", "Laplacian of a line"),
      grid("lap2d", 2, "--n N|NxN", "Laplacian of a square grid"),
      grid("lap3d", 3, "--n N|NxNxN", "Laplacian of a cubic grid"),
      {"ring",
       "--n N",
       "Laplacian of a ring: eigenvalues in pairs",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const std::vector<index_t> s = {one_size(p)};
         const index_t n = points(s);
         return {{square(n, 3 * n, [=] { return g::laplacian(s, g::Boundary::ring); })},
                 [=] { return g::laplacian_spectrum(s, g::Boundary::ring); },
                 nullptr};
       }},
      {"copies",
       "--n N --copies P",
       "P copies of lap1d: every eigenvalue P times",
       {"n", "copies", "boundary"},
       [](const Parameters& p) -> Ingredients {
         const index_t line = one_size(p), count = p.copies.value_or(8), n = points({line, count});
         return {{square(n, 3 * n, [=, b = p.boundary] { return g::laplacian_copies(count, line, b); })},
                 [=, b = p.boundary] { return g::laplacian_copies_spectrum(count, line, b); },
                 nullptr};
       }},
      {"hypercube",
       "--n D",
       "Laplacian of the D-dimensional cube graph, 2^D rows",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const int d = exponent(p, "--n: a hypercube has 0 to 30 dimensions");
         const index_t n = index_t{1} << d;
         return {{square(n, n * (d + 1), [=] { return g::hypercube(d); })},
                 [=] { return g::hypercube_spectrum(d); },
                 nullptr};
       }},
      {"complete",
       "--n N",
       "Laplacian of the complete graph: one distinct level",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         return {{square(n, n * n, [=] { return g::complete_graph(n); })},
                 [=] { return g::complete_graph_spectrum(n); },
                 nullptr};
       }},
  };
}

std::vector<MatrixKind> lattices() {
  return {
      {"graphene",
       "--n L|LxL",
       "periodic honeycomb: indefinite, 6-fold levels",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const auto s = sizes(p, 2);
         const index_t n = points({2, s[0], s[1]});
         return {{square(n, 3 * n, [=] { return g::graphene(s[0], s[1]); })},
                 [=] { return g::graphene_spectrum(s[0], s[1]); },
                 nullptr};
       }},
      {"fluxring",
       "--n N --phi F",
       "complex Hermitian ring: pairs split by a flux",
       {"n", "phi"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         const double phi = p.phi.value_or(0.3);
         Recipe recipe = square(
             n, 2 * n, [=] { return g::flux_ring(n, phi); }, io::Structure::hermitian);
         recipe.is_complex = true;
         return {{std::move(recipe)}, [=] { return g::flux_ring_spectrum(n, phi); }, nullptr};
       }},
      {"xxchain",
       "--n L",
       "spin-1/2 XX chain with L sites, 2^L rows",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const int length = exponent(p, "--n: a spin chain has 0 to 30 sites");
         const index_t n = index_t{1} << length;
         return {{square(n, n / 2 * std::max(length - 1, 0), [=] { return g::xx_chain(length); })},
                 [=] { return g::xx_chain_spectrum(length); },
                 nullptr};
       }},
      {"anderson",
       "--n N[xN[xN]] --disorder W",
       "random diagonal on a periodic grid",
       {"n", "disorder", "seed"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points(p.sizes);
         const double disorder = p.disorder.value_or(16.5);
         return {{square(n, n * (2 * std::ssize(p.sizes) + 1), [=] { return g::anderson(p.sizes, disorder, p.seed); })},
                 nullptr,
                 nullptr};
       }},
      {"hofstadter",
       "--n L|LxL --flux P",
       "electron on a torus in a field, complex Hermitian",
       {"n", "flux"},
       [](const Parameters& p) -> Ingredients {
         const auto s = sizes(p, 2);
         const index_t n = points(s), flux = p.flux.value_or(1);
         Recipe recipe = square(
             n, 4 * n, [=] { return g::hofstadter(s[0], s[1], flux); }, io::Structure::hermitian);
         recipe.is_complex = true;
         return {{std::move(recipe)}, nullptr, nullptr};
       }},
  };
}

std::vector<MatrixKind> symmetric_classics() {
  return {
      {"identity",
       "--n N",
       "all eigenvalues 1",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         return {{square(n, n, [=] { return g::identity(n); })}, [=] { return g::identity_spectrum(n); }, nullptr};
       }},
      {"clusters",
       "--n N --clusters C --spread S",
       "diagonal, eigenvalues around 1..C",
       {"n", "clusters", "spread"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)}), clusters = p.clusters.value_or(10);
         const double spread = p.spread.value_or(1e-6);
         return {{square(n, n, [=] { return g::diagonal_clusters(n, clusters, spread); })},
                 [=] { return g::diagonal_clusters_spectrum(n, clusters, spread); },
                 nullptr};
       }},
      {"clement",
       "--n N",
       "indefinite, integer eigenvalues",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         return {{square(n, 2 * n, [=] { return g::clement(n); })}, [=] { return g::clement_spectrum(n); }, nullptr};
       }},
      {"sakurai",
       "--n N",
       "pentadiagonal, condition number ~ N^4",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         return {{square(n, 5 * n, [=] { return g::sakurai(n); })}, [=] { return g::sakurai_spectrum(n); }, nullptr};
       }},
      {"minij",
       "--n N",
       "dense, min(i, j)",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = one_size(p);
         return dense(
             n, io::Structure::symmetric, [=] { return g::minij(n); }, [=] { return g::minij_spectrum(n); });
       }},
      {"wilkinson",
       "--n M",
       "2 M + 1 rows, nearly equal pairs of eigenvalues",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t m = one_size(p), n = points({m, 2}) + 1;
         return {{square(n, 3 * n, [=] { return g::wilkinson(m); })}, nullptr, nullptr};
       }},
      {"mikota",
       "--n N",
       "a pencil in /K and /M, eigenvalues j^2",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         Recipe k = square(n, 3 * n, [=] { return g::mikota(n).stiffness; });
         Recipe m = square(n, n, [=] { return g::mikota(n).mass; });
         k.object = "K";
         m.object = "M";
         return {{std::move(k), std::move(m)}, [=] { return g::mikota_spectrum(n); }, nullptr};
       }},
  };
}

std::vector<MatrixKind> general_classics() {
  return {
      {"toeplitz",
       "--n N --below A --diagonal C --above B",
       "tridiagonal, not symmetric",
       {"n", "below", "diagonal", "above"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         const double a = p.below.value_or(1), c = p.diagonal.value_or(-3.5), b = p.above.value_or(2);
         return {{square(
                     n, 3 * n, [=] { return g::toeplitz(n, a, c, b); }, io::Structure::general)},
                 nullptr,
                 [=] { return g::toeplitz_spectrum(n, a, c, b); }};
       }},
      {"circulant",
       "--n N --width W",
       "random circulant, complex eigenvalues",
       {"n", "width", "seed"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)}), width = std::min(n, p.width.value_or(8));
         return {{square(
                     n, n * width, [=, seed = p.seed] { return g::circulant(n, g::random_coefficients(width, seed)); },
                     io::Structure::general)},
                 nullptr,
                 [=, seed = p.seed] { return g::circulant_spectrum(n, g::random_coefficients(width, seed)); }};
       }},
      {"lauchli",
       "--n N --mu M",
       "(N + 1) x N, singular values sqrt(N) and M",
       {"n", "mu"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = points({one_size(p)});
         const double mu = p.mu.value_or(1e-7);
         Recipe recipe = square(
             n, 2 * n, [=] { return g::lauchli(n, mu); }, io::Structure::general);
         recipe.rows = n + 1;
         return {
             {std::move(recipe)}, [=] { return g::lauchli_singular_values(n, mu); }, nullptr, "exact_singular_values"};
       }},
      {"frank",
       "--n N",
       "dense, not symmetric, ill-conditioned eigenvalues",
       {"n"},
       [](const Parameters& p) -> Ingredients {
         const index_t n = one_size(p);
         return dense(n, io::Structure::general, [=] { return g::frank(n); });
       }},
  };
}

}  // namespace

const std::vector<MatrixKind>& matrix_kinds() {
  static const std::vector<MatrixKind> kinds = [] {
    std::vector<MatrixKind> all;
    for (const auto& part : {laplacians(), lattices(), symmetric_classics(), general_classics()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kinds;
}

}  // namespace ts::tsdata
