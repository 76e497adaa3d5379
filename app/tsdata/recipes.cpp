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

/// Number of elements of a dense n x n matrix. @throws Error(invalid_argument) beyond 2^63.
index_t elements(index_t n) {
  index_t count = 0;
  if (__builtin_mul_overflow(n, n, &count))
    throw Error(Errc::invalid_argument, "--n: the matrix would have more than 2^63 elements");
  return count;
}

/// Stores a known spectrum: eigenvalues or singular values, by the type that `Spectrum` returns.
template <class Spectrum>
void set_spectrum(Ingredients& to, Spectrum spectrum) {
  if constexpr (std::is_invocable_r_v<g::Spectrum, Spectrum>)
    to.spectrum = spectrum;
  else
    to.complex_spectrum = spectrum;
}

/// A square matrix of `entries` stored entries at most. What build() returns says whether it is dense or complex.
template <class Build>
Recipe square(index_t n, index_t entries, Build build, io::Structure structure) {
  using Built = std::invoke_result_t<Build>;
  Recipe recipe;
  recipe.rows = recipe.cols = n;
  recipe.entries = entries;
  recipe.structure = structure;
  recipe.is_complex = is_complex<typename Built::value_type>;
  recipe.dense = std::is_same_v<Built, Matrix<double>>;
  using Variant = std::conditional_t<std::is_same_v<Built, Matrix<double>>, io::DenseMatrix, io::SparseMatrix>;
  recipe.build = [build] { return Variant(build()); };
  return recipe;
}

template <class Build, class Spectrum = std::nullptr_t>
Ingredients general(index_t n, index_t entries, Build build, Spectrum spectrum = nullptr) {
  Ingredients all{{square(n, entries, build, io::Structure::general)}, nullptr, nullptr};
  set_spectrum(all, spectrum);
  return all;
}

/// Symmetric, or Hermitian where it is complex.
template <class Build, class Spectrum = std::nullptr_t>
Ingredients hermitian(index_t n, index_t entries, Build build, Spectrum spectrum = nullptr) {
  Ingredients all = general(n, entries, build, spectrum);
  Recipe& recipe = all.matrices.front();
  recipe.structure = recipe.is_complex ? io::Structure::hermitian : io::Structure::symmetric;
  return all;
}

/// The kinds, added in the order of the help page.
class Kinds {
 public:
  Kinds() {
    add_laplacians();
    add_lattices();
    add_symmetric_classics();
    add_general_classics();
  }
  std::vector<Kind> all;

 private:
  using P = const Parameters&;

  void add(const char* name, const char* arguments, const char* summary, std::vector<std::string> takes,
           std::function<Ingredients(P)> plan) {
    all.push_back({name, arguments, summary, std::move(takes), std::move(plan)});
  }
  void add_grid(const char* name, std::size_t dimensions, const char* arguments, const char* summary) {
    add(name, arguments, summary, {"boundary"}, [dimensions](P p) {
      const auto s = sizes(p, dimensions);
      const index_t n = points(s);
      return hermitian(
          n, n * (2 * std::ssize(s) + 1), [=, b = p.boundary] { return g::laplacian(s, b); },
          [=, b = p.boundary] { return g::laplacian_spectrum(s, b); });
    });
  }
  void add_laplacians();
  void add_lattices();
  void add_symmetric_classics();
  void add_general_classics();
};

void Kinds::add_laplacians() {
  add_grid("lap1d", 1, "--n N", "Laplacian of a line");
  add_grid("lap2d", 2, "--n N|NxN", "Laplacian of a square grid");
  add_grid("lap3d", 3, "--n N|NxNxN", "Laplacian of a cubic grid");
  add("ring", "--n N", "Laplacian of a ring: eigenvalues in pairs", {}, [](P p) {
    const std::vector<index_t> s = {one_size(p)};
    const index_t n = points(s);
    return hermitian(
        n, 3 * n, [=] { return g::laplacian(s, g::Boundary::ring); },
        [=] { return g::laplacian_spectrum(s, g::Boundary::ring); });
  });
  add("copies", "--n N --copies P", "P copies of lap1d: every eigenvalue P times", {"copies", "boundary"}, [](P p) {
    const index_t line = one_size(p), count = p.copies.value_or(8), n = points({line, count});
    return hermitian(
        n, 3 * n, [=, b = p.boundary] { return g::laplacian_copies(count, line, b); },
        [=, b = p.boundary] { return g::laplacian_copies_spectrum(count, line, b); });
  });
  add("hypercube", "--n D", "Laplacian of the D-dimensional cube graph, 2^D rows", {}, [](P p) {
    const int d = exponent(p, "--n: a hypercube has 0 to 30 dimensions");
    const index_t n = index_t{1} << d;
    return hermitian(
        n, n * (d + 1), [=] { return g::hypercube(d); }, [=] { return g::hypercube_spectrum(d); });
  });
  add("complete", "--n N", "Laplacian of the complete graph: one distinct level", {}, [](P p) {
    const index_t n = points({one_size(p)});
    return hermitian(
        n, n * n, [=] { return g::complete_graph(n); }, [=] { return g::complete_graph_spectrum(n); });
  });
}

void Kinds::add_lattices() {
  add("graphene", "--n L|LxL", "periodic honeycomb: indefinite, 6-fold levels", {}, [](P p) {
    const auto s = sizes(p, 2);
    const index_t n = points({2, s[0], s[1]});
    return hermitian(
        n, 3 * n, [=] { return g::graphene(s[0], s[1]); }, [=] { return g::graphene_spectrum(s[0], s[1]); });
  });
  add("fluxring", "--n N --phi F", "complex Hermitian ring: pairs split by a flux", {"phi"}, [](P p) {
    const index_t n = points({one_size(p)});
    const double phi = p.phi.value_or(0.3);
    return hermitian(
        n, 2 * n, [=] { return g::flux_ring(n, phi); }, [=] { return g::flux_ring_spectrum(n, phi); });
  });
  add("xxchain", "--n L", "spin-1/2 XX chain with L sites, 2^L rows", {}, [](P p) {
    const int length = exponent(p, "--n: a spin chain has 0 to 30 sites");
    const index_t n = index_t{1} << length;
    return hermitian(
        n, n / 2 * std::max(length - 1, 0), [=] { return g::xx_chain(length); },
        [=] { return g::xx_chain_spectrum(length); });
  });
  add("anderson", "--n N[xN[xN]] --disorder W", "random diagonal on a periodic grid", {"disorder", "seed"}, [](P p) {
    const index_t n = points(p.sizes);
    const double disorder = p.disorder.value_or(16.5);
    return hermitian(n, n * (2 * std::ssize(p.sizes) + 1), [=] { return g::anderson(p.sizes, disorder, p.seed); });
  });
  add("hofstadter", "--n L|LxL --flux P", "electron on a torus in a field, complex Hermitian", {"flux"}, [](P p) {
    const auto s = sizes(p, 2);
    const index_t n = points(s), flux = p.flux.value_or(1);
    return hermitian(n, 4 * n, [=] { return g::hofstadter(s[0], s[1], flux); });
  });
}

void Kinds::add_symmetric_classics() {
  add("identity", "--n N", "all eigenvalues 1", {}, [](P p) {
    const index_t n = points({one_size(p)});
    return hermitian(
        n, n, [=] { return g::identity(n); }, [=] { return g::identity_spectrum(n); });
  });
  add("clusters", "--n N --clusters C --spread S", "diagonal, eigenvalues around 1..C", {"clusters", "spread"},
      [](P p) {
        const index_t n = points({one_size(p)}), clusters = p.clusters.value_or(10);
        const double spread = p.spread.value_or(1e-6);
        return hermitian(
            n, n, [=] { return g::diagonal_clusters(n, clusters, spread); },
            [=] { return g::diagonal_clusters_spectrum(n, clusters, spread); });
      });
  add("clement", "--n N", "indefinite, integer eigenvalues", {}, [](P p) {
    const index_t n = points({one_size(p)});
    return hermitian(
        n, 2 * n, [=] { return g::clement(n); }, [=] { return g::clement_spectrum(n); });
  });
  add("sakurai", "--n N", "pentadiagonal, condition number ~ N^4", {}, [](P p) {
    const index_t n = points({one_size(p)});
    return hermitian(
        n, 5 * n, [=] { return g::sakurai(n); }, [=] { return g::sakurai_spectrum(n); });
  });
  add("minij", "--n N", "dense, min(i, j)", {}, [](P p) {
    const index_t n = one_size(p);
    return hermitian(
        n, elements(n), [=] { return g::minij(n); }, [=] { return g::minij_spectrum(n); });
  });
  add("wilkinson", "--n M", "2 M + 1 rows, nearly equal pairs of eigenvalues", {}, [](P p) {
    const index_t m = one_size(p), n = points({m, 2}) + 1;
    return hermitian(n, 3 * n, [=] { return g::wilkinson(m); });
  });
  add("mikota", "--n N", "a pencil in /K and /M, eigenvalues j^2", {}, [](P p) {
    const index_t n = points({one_size(p)});
    Ingredients pencil = hermitian(
        n, 3 * n, [=] { return g::mikota(n).stiffness; }, [=] { return g::mikota_spectrum(n); });
    pencil.matrices.push_back(square(
        n, n, [=] { return g::mikota(n).mass; }, io::Structure::symmetric));
    pencil.matrices[0].object = "K", pencil.matrices[1].object = "M";
    return pencil;
  });
}

void Kinds::add_general_classics() {
  add("toeplitz", "--n N --below A --diagonal C --above B", "tridiagonal, not symmetric",
      {"below", "diagonal", "above"}, [](P p) {
        const index_t n = points({one_size(p)});
        const double a = p.below.value_or(1), c = p.diagonal.value_or(-3.5), b = p.above.value_or(2);
        return general(
            n, 3 * n, [=] { return g::toeplitz(n, a, c, b); }, [=] { return g::toeplitz_spectrum(n, a, c, b); });
      });
  add("circulant", "--n N --width W", "random circulant, complex eigenvalues", {"width", "seed"}, [](P p) {
    const index_t n = points({one_size(p)}), width = std::min(n, p.width.value_or(8));
    return general(
        n, n * width, [=, seed = p.seed] { return g::circulant(n, g::random_coefficients(width, seed)); },
        [=, seed = p.seed] { return g::circulant_spectrum(n, g::random_coefficients(width, seed)); });
  });
  add("lauchli", "--n N --mu M", "(N + 1) x N, singular values sqrt(N) and M", {"mu"}, [](P p) {
    const index_t n = points({one_size(p)});
    const double mu = p.mu.value_or(1e-7);
    Ingredients all = general(
        n, 2 * n, [=] { return g::lauchli(n, mu); }, [=] { return g::lauchli_singular_values(n, mu); });
    all.matrices.front().rows = n + 1;
    all.spectrum_object = "exact_singular_values";
    return all;
  });
  add("frank", "--n N", "dense, not symmetric, ill-conditioned eigenvalues", {}, [](P p) {
    const index_t n = one_size(p);
    return general(n, elements(n), [=] { return g::frank(n); });
  });
}

}  // namespace

const std::vector<Kind>& matrix_kinds() {
  static const Kinds kinds;
  return kinds.all;
}

}  // namespace ts::tsdata
