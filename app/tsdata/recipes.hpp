// Recipes of tsdata gen: for each kind of matrix, the options it takes, its size before anything is built,
// and how to build it.
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tallskinny/app/generators/matrices.hpp"
#include "tallskinny/app/generators/spectrum.hpp"
#include "tallskinny/io/matrix_file.hpp"

namespace ts::tsdata {

/// The options of all kinds; empty where the kind's own default holds.
struct Parameters {
  std::vector<index_t> sizes;  ///< --n, as many as were given
  generators::Boundary boundary = generators::Boundary::dirichlet;
  std::optional<index_t> copies, clusters, width, flux;
  std::optional<double> spread, phi, mu, disorder, below, diagonal, above;
  std::uint64_t seed = 0;
};

using BuiltMatrix = std::variant<io::SparseMatrix, io::DenseMatrix>;

/// One matrix of a file.
struct Recipe {
  std::string object = "matrix";
  index_t rows = 0, cols = 0;
  index_t entries = 0;  ///< stored entries, an upper bound
  io::Structure structure = io::Structure::symmetric;
  bool is_complex = false, dense = false;
  std::function<BuiltMatrix()> build;
};

/// All that goes into one file. At most one of the two spectra is there.
struct Ingredients {
  std::vector<Recipe> matrices;
  std::function<generators::Spectrum()> spectrum;
  std::function<std::vector<std::complex<double>>()> complex_spectrum;
  std::string spectrum_object = "exact_eigenvalues";
};

struct Kind {
  std::string name, arguments, summary;
  std::vector<std::string> takes;                           ///< long names of its options beside --n
  std::function<Ingredients(const Parameters&)> plan = {};  ///< none for a feature set
};

/// All kinds, in the order of the help page.
const std::vector<Kind>& matrix_kinds();

}  // namespace ts::tsdata
