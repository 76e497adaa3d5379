#include "tallskinny/app/tsdata/gen_options.hpp"

#include <algorithm>

#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tsdata/write.hpp"
#include "tallskinny/gemm/core/error.hpp"

namespace ts::tsdata {

namespace {

bool parse_sizes(std::string_view text, std::vector<index_t>& sizes) {
  std::vector<index_t> parsed;
  for (;;) {
    const auto end = text.find('x');
    index_t size = 0;
    if (!app::parse_value(text.substr(0, end), size) || size < 0) return false;
    parsed.push_back(size);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  sizes = std::move(parsed);
  return sizes.size() <= 3;
}

/// Kinds that are no matrices; see matrix_kinds().
const std::vector<Kind>& feature_kinds() {
  static const std::vector<std::string> of_blobs = {"cols", "groups", "spread", "box", "offset", "seed"};
  static const std::vector<Kind> kinds = {
      {"blobs", "--cols D --groups K --spread S --box B", "normal groups", of_blobs},
      {"far", "--offset X and as blobs", "blobs far from the origin", of_blobs},
      {"uniform", "--cols D", "uniform in the unit cube, no groups", {"cols", "seed"}},
      {"duplicates", "--cols D --groups K", "exact copies of K points", {"cols", "groups", "seed"}}};
  return kinds;
}

std::string padded(std::string text, std::size_t width) {
  return text.size() < width ? text.append(width - text.size(), ' ') : text;
}

std::string table(const std::vector<Kind>& kinds) {
  constexpr std::size_t page = 79, column = 34;
  std::string lines;
  for (const Kind& kind : kinds) {
    std::string line = "  " + padded(kind.name, 11) + kind.arguments;
    if (line.size() + 1 > column) lines += line + '\n', line.clear();
    for (const std::string& words : app::wrap(kind.summary, page - column)) {
      lines += padded(line, column) + words + '\n';
      line.clear();
    }
  }
  return lines;
}

app::About about() {
  return {"tsdata gen",
          "Makes a matrix with a known spectrum, or a feature set with known groups, and stores the answer with it.",
          "KIND --n SIZE --output FILE.h5 [options]",
          {{"A cubic grid with 8000 points and all its eigenvalues", "tsdata gen lap3d --n 20 -o lap3d.h5"},
           {"A million points in 100 groups, in single precision",
            "tsdata gen blobs --n 1e6 --cols 32 --groups 100 --dtype float32 -o b.h5"}},
          "Matrices, stored as /matrix, with /exact_eigenvalues where they are known:\n" + table(matrix_kinds()) +
              "Feature sets of N rows, stored as /features with /labels and /centers:\n" + table(feature_kinds())};
}

/// The options whose meaning depends on the kind.
const std::vector<std::string>& kind_options() {
  static const std::vector<std::string> names = {
      "boundary", "copies", "clusters", "spread", "phi", "disorder", "flux", "below",          "diagonal", "above",
      "width",    "mu",     "cols",     "groups", "box", "offset",   "seed", "spectrum-count", "full"};
  return names;
}

void check_kind(const Kind& kind, const app::Options& options) {
  for (const std::string& name : kind_options()) {
    const bool taken = std::find(kind.takes.begin(), kind.takes.end(), name) != kind.takes.end() ||
                       (kind.plan && (name == "spectrum-count" || name == "full"));
    if (taken || !options.given(name)) continue;
    std::string text = "--";
    text.append(name).append(" does not apply to the kind ").append(kind.name).append(", which takes --n");
    for (const std::string& other : kind.takes) text.append(", --").append(other);
    throw Error(Errc::invalid_argument, text);
  }
}

}  // namespace

bool parse_gen(app::Arguments arguments, GenOptions& target) {
  using app::at_least;
  Parameters& p = target.parameters;
  app::Options options(about());
  options.positional("KIND", target.kind, "what to make, one of the kinds below");
  options.group("Size and type")
      .custom("n", "N[xN[xN]]", {}, "size: rows, or the sides of a grid", "one to three sizes, like 1000 or 20x30",
              [&p](std::string_view text) { return parse_sizes(text, p.sizes); })
      .value("cols", "D", target.cols, "columns of a feature set", at_least<index_t>(1))
      .value("groups", "K", target.groups, "groups in a feature set", at_least<index_t>(1));
  add_dtype_option(options, target.dtype, "element type (default: float64, or complex128)");
  options.group("Options of the kinds")
      .choice("boundary", p.boundary, "ends of a grid",
              {{"dirichlet", generators::Boundary::dirichlet},
               {"neumann", generators::Boundary::neumann},
               {"ring", generators::Boundary::ring}})
      .value("copies", "P", p.copies, "copies (default: 8)", at_least<index_t>(1))
      .value("clusters", "C", p.clusters, "clusters of eigenvalues (default: 10)", at_least<index_t>(1))
      .value("spread", "S", p.spread, "width of a cluster (default: 1e-6), or of a blob (default: 1)", at_least(0.0))
      .value("phi", "F", p.phi, "magnetic flux (default: 0.3)")
      .value("disorder", "W", p.disorder, "width of the random diagonal (default: 16.5)", at_least(0.0))
      .value("flux", "P", p.flux, "flux quanta through a row of cells (default: 1)", at_least<index_t>(0))
      .value("below", "A", p.below, "below the diagonal (default: 1)")
      .value("diagonal", "C", p.diagonal, "on the diagonal (default: -3.5)")
      .value("above", "B", p.above, "above the diagonal (default: 2)")
      .value("width", "W", p.width, "nonzeros in a row (default: 8)", at_least<index_t>(1))
      .value("mu", "M", p.mu, "the small singular value (default: 1e-7)")
      .value("box", "B", target.box, "half the edge of the cube of centres (default: 10)", at_least(0.0))
      .value("offset", "X", target.offset, "centre of that cube in every coordinate (default: 0; far: 1e5)");
  add_seed_option(options, target.common);
  options.group("Output");
  add_output_options(options, target.common, "the file to write");
  options.flag("full", target.full, "store symmetric matrices whole, not as lower triangles")
      .value("spectrum-count", "K", target.spectrum_count,
             "store only the K smallest and K largest exact eigenvalues (default: all of up to 4 million, else "
             "1000)",
             at_least<index_t>(0))
      .value("compress", "LEVEL", target.compress, "gzip level, 0 to 9", app::between(0, 9));
  app::add_report_options(options, target.common);
  if (!options.parse(arguments)) return false;

  p.seed = target.common.seed;
  if (target.common.output.empty() && !target.common.dry_run)
    throw Error(Errc::invalid_argument, "--output is missing: name the file to make (see tsdata gen --help)");
  std::vector<std::string> names;
  for (const auto* kinds : {&matrix_kinds(), &feature_kinds()})
    for (const Kind& kind : *kinds) {
      names.push_back(kind.name);
      if (kind.name == target.kind) check_kind(kind, options);
    }
  if (std::find(names.begin(), names.end(), target.kind) == names.end()) {
    const std::string near = app::nearest_name(target.kind, names);
    throw Error(Errc::invalid_argument, "unknown kind '" + target.kind + "'" +
                                            (near.empty() ? "" : "; did you mean " + near + "?") +
                                            " (see tsdata gen --help)");
  }
  if (p.sizes.empty()) throw Error(Errc::invalid_argument, "--n is missing: name the size (see tsdata gen --help)");
  return true;
}

std::string command_line(app::Arguments arguments) {
  std::string line = "tsdata gen";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-o" || word == "--output") {
      ++i;  // where the file lies says nothing about what is in it
    } else if (!word.starts_with("--output=") && word != "--json" && word != "--quiet" && word != "-q") {
      line += ' ' + word;
    }
  }
  return line;
}

}  // namespace ts::tsdata
