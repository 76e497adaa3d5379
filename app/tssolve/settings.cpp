#include "tallskinny/app/tssolve/settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/read_options.hpp"

namespace ts::app::tssolve {

namespace {

using solvers::Convergence;
using solvers::GeneralWhich;
using solvers::Method;
using solvers::Precision;
using solvers::Which;

/// A word of --which for Hermitian and for general matrices; where one of them knows it not, it has no value.
struct Word {
  const char* text;
  std::optional<Which> which;
  std::optional<GeneralWhich> part;
};
/// Short words first, then those that SLEPc's users know.
constexpr std::array<Word, 13> which_words = {{{"LA", Which::LA, GeneralWhich::LR},
                                               {"SA", Which::SA, GeneralWhich::SR},
                                               {"LM", Which::LM, GeneralWhich::LM},
                                               {"SM", Which::SM, {}},
                                               {"BE", Which::BE, {}},
                                               {"LR", Which::LA, GeneralWhich::LR},
                                               {"SR", Which::SA, GeneralWhich::SR},
                                               {"LI", {}, GeneralWhich::LI},
                                               {"SI", {}, GeneralWhich::SI},
                                               {"LARGEST_REAL", Which::LA, GeneralWhich::LR},
                                               {"SMALLEST_REAL", Which::SA, GeneralWhich::SR},
                                               {"LARGEST_MAGNITUDE", Which::LM, GeneralWhich::LM},
                                               {"SMALLEST_MAGNITUDE", Which::SM, {}}}};

const Word* word_named(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto* found =
      std::find_if(which_words.begin(), which_words.end(), [&](const Word& word) { return word.text == upper; });
  return found == which_words.end() ? nullptr : found;
}

About about() {
  return {
      "tssolve",
      "eigenvalues and eigenvectors of Hermitian matrices, checked for missing copies",
      "MATRIX [options]",
      {{"the 6 smallest eigenvalues of a matrix in Matrix Market format", "tssolve laplace.mtx -k 6 --which SA"},
       {"20 largest, to 1e-10, pairs and residuals to a file",
        "tssolve graph.h5:/adjacency -k 20 --which LA --tol 1e-10 -o pairs.h5"},
       {"the 8 nearest to 1.5, as JSON", "tssolve spin.h5 -k 8 --sigma 1.5 --json"},
       {"all between -0.2 and 0.3, their number proved", "tssolve spin.h5 --interval -0.2:0.3"},
       {"the 4 rightmost eigenvalues of a matrix that is not symmetric", "tssolve flow.mtx --general -k 4 --which LR"},
       {"the 5 first principal components of a feature set", "tssolve features.h5:/X --svd --centre -k 5 -o pca.h5"},
       {"the 10 lowest vibrations of a structure: K x = lambda M x",
        "tssolve model.h5:/K --mass model.h5:/M -k 10 --sigma 0 --conv rel"},
       {"a long run that a batch system may stop and start again, with a page of pictures",
        "tssolve big.h5 -k 20 --which SA -o pairs.h5 --checkpoint state.h5 --report run.html"}},
      "MATRIX is FILE or FILE:/object: HDF5 as Binsparse, AnnData, MATLAB v7.3, PETSc, SciPy, Octave, h5py "
      "and "
      "others write it, Matrix Market, npy or csv; `tsdata info FILE` says what is in it. Options of reading "
      "hold "
      "for --mass and --preconditioner, too. It is real symmetric or complex Hermitian, sparse or dense; any "
      "square one with --general, any shape "
      "with --svd.\n\n"
      "The set is called complete only after a search for missing copies of repeated eigenvalues. Exit "
      "status: "
      "0 converged and complete; 3 not, with the reason on standard error and the partial result written; 1 "
      "failure, 2 wrong use, 4 unusable input, 5 no such device, 128 + n after signal n.\n\n"
      "SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGXCPU end a run after its block step, with the checkpoint and "
      "the partial result "
      "written.\n\n"
      "--device cuda keeps matrix, basis and blocks in the memory of a GPU, and a basis that does not fit "
      "there in page-locked host memory; targets, "
      "--interval, --mass, --general, --svd and LOBPCG run on the processor only.\n\n"
      "Small eigenvalues of matrices such as Laplacians converge slowly from the end of the spectrum: "
      "--sigma 0 (or --which SM) factorises the matrix and finds them in a few steps where memory allows."};
}

/// "A:B", either side empty for infinity.
bool parse_interval(std::string_view text, std::optional<solvers::Interval>& interval) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  constexpr double inf = std::numeric_limits<double>::infinity();
  solvers::Interval parsed{-inf, inf};
  const auto low = text.substr(0, colon), high = text.substr(colon + 1);
  if (!low.empty() && !parse_value(low, parsed.low)) return false;
  if (!high.empty() && !parse_value(high, parsed.high)) return false;
  interval = parsed;
  return parsed.low <= parsed.high;
}

/// What --threshold means together with --which.
solvers::Interval beyond(double threshold, Which which) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  expects(which != Which::LM && which != Which::BE,
          "--threshold needs --which LA (all at or above it), SA (all at or below it) or SM (all of at most "
          "that magnitude)");
  if (which == Which::LA) return {threshold, inf};
  if (which == Which::SA) return {-inf, threshold};
  expects(threshold >= 0, "--threshold with --which SM is a magnitude: 0 or larger");
  return {-threshold, threshold};
}

/// "1.5", "1.5-2i", "2i"
bool parse_complex(std::string_view text, std::complex<double>& z) {
  double real = 0, imaginary = 0;
  if (text.empty() || text.back() != 'i') {
    if (!parse_value(text, real)) return false;
  } else {
    text.remove_suffix(1);
    std::size_t sign = text.size();  // of the imaginary part; not that of an exponent
    while (sign-- > 0)
      if ((text[sign] == '+' || text[sign] == '-') && (sign == 0 || (text[sign - 1] != 'e' && text[sign - 1] != 'E')))
        break;
    const std::size_t from = sign < text.size() ? sign : 0;
    auto part = text.substr(from);
    if (!part.empty() && part.front() == '+') part.remove_prefix(1);
    if (part.empty() || part == "-")
      imaginary = part.empty() ? 1 : -1;
    else if (!parse_value(part, imaginary))
      return false;
    if (from > 0 && !parse_value(text.substr(0, from), real)) return false;
  }
  z = {real, imaginary};
  return std::isfinite(real) && std::isfinite(imaginary);
}

}  // namespace

const char* name_of(Which which) noexcept {
  for (const Word& word : which_words)
    if (word.which == which) return word.text;
  return "?";
}

std::string complex_text(std::complex<double> z) {
  if (z.imag() == 0) return value_text(z.real());
  const auto imaginary = value_text(z.imag());
  return (z.real() == 0 ? "" : value_text(z.real()) + (imaginary.front() == '-' ? "" : "+")) + imaginary + "i";
}

std::string interval_text(const solvers::Interval& interval) {
  const auto end = [](double x) { return std::isinf(x) ? std::string() : value_text(x); };
  return end(interval.low) + ":" + end(interval.high);
}

const char* name_of(GeneralWhich part) noexcept {
  for (auto word = which_words.rbegin(); word != which_words.rend(); ++word)
    if (word->part == part && std::string_view(word->text).size() == 2 && word->text != std::string_view("LA") &&
        word->text != std::string_view("SA"))
      return word->text;
  return "?";
}

const char* name_of(Convergence convergence) noexcept {
  switch (convergence) {
    case Convergence::norm: return "norm";
    case Convergence::rel: return "rel";
    case Convergence::abs: return "abs";
    case Convergence::root:  // within solve_svd alone
      return "root";
  }
  return "?";
}

const char* name_of(Precision precision) noexcept {
  switch (precision) {
    case Precision::float64: return "float64";
    case Precision::float32: return "float32";
    case Precision::mixed: return "mixed";
  }
  return "?";
}

bool parse_settings(Arguments arguments, Settings& settings) {
  auto& eigen = settings.eigen;
  eigen.which = Which::LM;
  Options options(about());
  std::optional<double> threshold;
  const Word* word = word_named("LM");
  options.positional("MATRIX", settings.matrix, "the matrix: FILE or FILE:/object");

  options.group("What to find")
      .value("nev,k", "COUNT", eigen.nev, "how many eigenvalues", at_least<index_t>(1))
      .custom("which", "LA|SA|LM|SM|BE", name_of(eigen.which),
              "largest or smallest algebraic, largest or smallest magnitude, both ends. With --sigma: LM and "
              "SM the nearest to it, LA and SA the nearest above and below (where fewer lie there, all of "
              "them), BE half from each side. SM alone is nearest to 0. With --general: LM, LR or SR "
              "(largest or smallest real part), LI or SI (largest or smallest |imaginary part|), "
              "SM (nearest to 0 or to --sigma). With --svd: LM or SM",
              "LA, SA, LM, SM, BE, LR, SR, LI or SI",
              [&word](std::string_view text) { return (word = word_named(text)) != nullptr; })
      .custom("sigma", "NUMBER", "",
              "look near this number, by factorising A - sigma I. With --general it may be complex, as in "
              "0.5+2i: of a real matrix the values nearest to it or to its conjugate, pairs together",
              "a number; with --general a complex one such as 0.5+2i, 0.5-2i or 2i",
              [&settings](std::string_view text) {
                std::complex<double> z;
                if (!parse_complex(text, z)) return false;
                settings.sigma = z.real(), settings.sigma_imaginary = z.imag();
                return true;
              })
      .custom("interval", "A:B", "",
              "all eigenvalues from A to B, however many (--nev has no say); either may be left out. Where the "
              "matrix can be factorised (sparse, --method auto) their number is proved by the inertia of "
              "factorisations at both ends; with --method lanczos or chebyshev nothing is factorised, and "
              "completeness is as sure as a search from random blocks makes it",
              "A:B with A not above B",
              [&settings](std::string_view text) { return parse_interval(text, settings.interval); })
      .value("threshold", "NUMBER", threshold,
             "all eigenvalues at or above this number (--which LA), at or below it (SA), or of at most this "
             "magnitude (SM): an interval with one end")
      .flag("general", settings.general,
            "the matrix need not be Hermitian: block Krylov-Schur; eigenvalues may be complex, and the two "
            "of a conjugate "
            "pair are never separated")
      .flag("svd", settings.svd,
            "the --nev largest singular values instead (with --which SM the smallest), with left and right "
            "vectors, of a matrix of any shape")
      .flag("centre", settings.centre,
            "subtract the mean of every column first: with --svd the principal components of a feature set")
      .custom("mass", "FILE[:/object]", "",
              "solve A x = lambda M x with this M, symmetric or Hermitian and positive definite. Residuals "
              "are those "
              "of A x - lambda M x in the norm of M^-1, vectors are M-orthonormal",
              "a file name", [&settings](std::string_view text) { return parse_value(text, settings.mass); })
      .value("tol", "NUMBER", eigen.tol, "how small residuals must be", at_least(0.0))
      .choice("conv", eigen.convergence,
              "what the residual of a pair is compared with: tol times the norm of A, tol times |eigenvalue|, or "
              "tol alone",
              {{"norm", Convergence::norm}, {"rel", Convergence::rel}, {"abs", Convergence::abs}});

  options.group("How to find it")
      .choice("method", eigen.method,
              "block Lanczos; the same on a Chebyshev polynomial of the matrix (for SA and LA); LOBPCG or "
              "block Davidson, for SA or LA with a preconditioner; or all eigenvalues by a dense solver. auto "
              "takes dense for small matrices, chebyshev for large and sparse ones. --general knows auto and "
              "dense",
              {{"auto", Method::automatic},
               {"lanczos", Method::lanczos},
               {"chebyshev", Method::chebyshev},
               {"lobpcg", Method::lobpcg},
               {"davidson", Method::davidson},
               {"dense", Method::dense}})
      .choice("precision", eigen.precision,
              "what block Lanczos iterates in. float32: matrix and basis in float32, for less memory and time; "
              "residuals, still computed in float64, reach 4e-6 of the norm of A and no less, so that --tol is "
              "1e-5 unless given; a set is complete only where the gap outside of it shows in float32. mixed: "
              "float32 first, then float64 from what that found, to the same --tol and with the same "
              "certainty as float64. For the ends of the spectrum; dense and cheaply factorised matrices "
              "are solved in float64 anyway",
              {{name_of(Precision::float64), Precision::float64},
               {name_of(Precision::float32), Precision::float32},
               {name_of(Precision::mixed), Precision::mixed}})
      .custom("preconditioner", "none|jacobi|ichol|chebyshev|FILE[:/object]", settings.preconditioner,
              "of LOBPCG and Davidson: nothing, the inverse of the diagonal, an incomplete Cholesky "
              "factorisation "
              "(sparse matrices), a Chebyshev polynomial of the matrix, or a matrix near the inverse of A, "
              "Hermitian "
              "and positive definite. auto: jacobi for SA, none for LA",
              "none, jacobi, ichol, chebyshev or a file name",
              [&settings](std::string_view text) { return parse_value(text, settings.preconditioner); })
      .value("block-size", "COUNT", eigen.block_size, "vectors per block step; 0: chosen", at_least<index_t>(0))
      .value("max-basis", "COUNT", eigen.max_basis, "vectors kept before a restart; 0: chosen", at_least<index_t>(0))
      .value("max-iter", "COUNT", eigen.max_iterations, "block steps before giving up; 0: chosen", at_least<index_t>(0))
      .custom("initial", "FILE[:/object]", "", "start from the columns of this dense matrix (n x any number)",
              "a file name", [&settings](std::string_view text) { return parse_value(text, settings.initial); });
  add_seed_option(options, settings.common);

  add_read_options(options.group("Reading"), settings.read);

  options.group("Results");
  add_output_options(options, settings.common, "write eigenvalues, eigenvectors, residual_norms and what led to them");
  add_report_options(options, settings.common);
  options.custom("report", "FILE.html", "",
                 "write a page with pictures: convergence of each pair, the spectrum, residuals, time", "a file name",
                 [&settings](std::string_view text) { return parse_value(text, settings.report); });
  options.flag("profile", settings.profile,
               "measure what the machine can do, and show for each kind of work how long it took, what it "
               "moved and computed, and how near it came to that");
  add_checkpoint_options(options.group("Long runs"), settings.checkpoint);
  options.group("Machine");
  add_machine_options(options, settings.common);
  options.custom("memory", "BYTES", "",
                 "memory to use, like 500M or 40G: of the GPU, or with --device cpu of the host; default what "
                 "is free. A basis that does not fit on the GPU stays in page-locked host memory and passes "
                 "through it. --dry-run shows what will be where",
                 "a number of bytes like 500M or 4G",
                 [&settings](std::string_view text) { return parse_bytes(text, settings.memory); });
  if (!options.parse(arguments)) return false;
  eigen.seed = settings.common.seed;
  expects(!settings.checkpoint.restart || !settings.checkpoint.file.empty(), "--restart needs --checkpoint FILE");
  if (eigen.precision != Precision::float64) {
    expects(!settings.general && !settings.svd && settings.mass.empty() && !settings.sigma &&
                word->which != Which::SM && !settings.interval && !threshold && settings.checkpoint.file.empty() &&
                !solvers::is_preconditioned(eigen.method),
            "--precision float32 and mixed go with block Lanczos for the ends of the spectrum: --general, --svd, "
            "--mass, --sigma, --which SM, --interval, --threshold, --checkpoint and --method lobpcg or davidson "
            "take --precision float64");
    const bool single = eigen.precision == Precision::float32;
    if (single && !options.given("tol")) eigen.tol = 1e-5;
    if (single && eigen.convergence == Convergence::norm && eigen.tol < solvers::float32_tolerance)
      throw Error(Errc::invalid_argument,
                  "--tol " + value_text(eigen.tol) + " is below " + value_text(solvers::float32_tolerance) +
                      ", the least that --precision float32 takes: give a larger one, or take --precision mixed");
  }
  if (settings.general) {
    const bool nearest = word->which == Which::SM;  // to --sigma, or to 0
    if (nearest && !settings.sigma) settings.sigma = 0;
    expects(nearest || word->part.has_value(), "--general knows --which LM, SM, LR, SR, LI and SI");
    expects(!settings.sigma || nearest || word->part == GeneralWhich::LM,
            "--general with --sigma finds the eigenvalues nearest to it: leave --which out");
    expects(!settings.interval && !threshold && settings.mass.empty() && !settings.svd,
            "--interval, --threshold, --mass and --svd do not go with --general");
    expects(eigen.method == Method::automatic || eigen.method == Method::dense,
            "--general knows --method dense, which computes the whole spectrum, beside block Krylov-Schur");
    settings.part = word->part.value_or(GeneralWhich::LM);
  } else {
    expects(settings.sigma_imaginary == 0,
            "--sigma is a real number: eigenvalues of Hermitian matrices are (--general is for others)");
    expects(word->which.has_value(), "--which LI and SI go with --general");
    eigen.which = *word->which;
  }
  if (threshold) {
    expects(!settings.interval, "--threshold and --interval exclude each other");
    settings.interval = beyond(*threshold, eigen.which);
  }
  expects(settings.svd || !settings.centre, "--centre goes with --svd");
  expects(settings.preconditioner == "auto" || solvers::is_preconditioned(eigen.method),
          "--preconditioner goes with --method lobpcg and davidson");
  if (solvers::is_preconditioned(eigen.method))
    expects(!settings.sigma && !settings.interval && settings.checkpoint.file.empty() &&
                (eigen.which == Which::SA || eigen.which == Which::LA),
            "--method lobpcg and davidson seek --which SA or LA, without --sigma, --interval, --threshold or "
            "--checkpoint");
  if (settings.svd) {
    const bool smallest = eigen.which == Which::SM || eigen.which == Which::SA;
    expects(smallest || eigen.which == Which::LM || eigen.which == Which::LA,
            "--svd finds the largest singular values, or with --which SM the smallest");
    expects(!settings.sigma && !settings.interval && settings.mass.empty() && settings.checkpoint.file.empty() &&
                settings.initial.empty() && eigen.method == Method::automatic,
            "--sigma, --interval, --threshold, --mass, --initial, --method and --checkpoint do not go with "
            "--svd");
    eigen.which = smallest ? Which::SM : Which::LA;
  }
  if (settings.interval) {
    expects(!settings.sigma, "--sigma looks near a number, --interval for all in a range: give one of them");
    expects(settings.checkpoint.file.empty() && settings.initial.empty(),
            "--checkpoint and --initial do not go with --interval or --threshold");
    eigen.which = Which::SA;  // the order of the result
  }
  return true;
}

}  // namespace ts::app::tssolve
