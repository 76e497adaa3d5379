// Settings of a run of tssolve, and words and numbers of the command line (words.cpp).
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>

#include "tallskinny/app/common/checkpoint_file.hpp"
#include "tallskinny/app/common/common_options.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/io/matrix_file.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/eigen/interval/interval.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"

namespace ts::app::tssolve {

struct Settings {
  std::string matrix;  ///< FILE or FILE:/object
  bool svd = false, centre = false, general = false;
  bool symmetrise = false;                                 ///< takes (A + A^H) / 2 of any square matrix
  solvers::GeneralWhich part = solvers::GeneralWhich::LM;  ///< what --which means for a general matrix
  std::string mass;                                        ///< the same for M of A x = lambda M x; empty: the identity
  std::string preconditioner = "auto";                     ///< a word, or the same for a matrix near A^-1
  io::ReadOptions read;                                    ///< of these three
  std::string initial;                                     ///< a file with a warm start; empty: random
  solvers::Reordering reorder = solvers::Reordering::none;
  std::optional<double> sigma;
  double sigma_imaginary = 0;                 ///< with `general`
  std::optional<solvers::Interval> interval;  ///< all eigenvalues in it, instead of `nev` of them
  CheckpointOptions checkpoint;
  std::string report;                                     ///< empty: none
  std::string values_out, vectors_out, left_vectors_out;  ///< tables; empty: none
  bool profile = false;
  std::uint64_t memory = 0;                ///< bytes; 0: what there is
  std::optional<Determinism> determinism;  ///< as asked for; otherwise gpu_to_gpu on several ranks
  bool accept_unproven = false;            ///< what converged is taken although nothing shows that it is complete
  bool bits_may_vary = false;              ///< not_guaranteed was asked for: not even equal runs need have equal bits
  solvers::EigenOptions eigen;
  CommonOptions common;
};

/// False when --help or --version has been answered.
/// @throws Error(invalid_argument) naming the option.
[[nodiscard]] bool parse_settings(Arguments arguments, Settings& settings);

[[nodiscard]] const char* name_of(solvers::Which which) noexcept;
[[nodiscard]] const char* name_of(solvers::GeneralWhich part) noexcept;
[[nodiscard]] const char* name_of(solvers::Precision precision) noexcept;
/// Text of a complex number in the format of --sigma.
[[nodiscard]] std::string complex_text(std::complex<double> z);
/// Text of an interval in the format of --interval.
[[nodiscard]] std::string interval_text(const solvers::Interval& interval);
[[nodiscard]] const char* name_of(solvers::Convergence convergence) noexcept;

/// A word of --which for Hermitian and for general matrices; where one of them knows it not, it has no value.
struct Word {
  const char* text;
  std::optional<solvers::Which> which;
  std::optional<solvers::GeneralWhich> part;
};
/// In upper or lower case; null: there is none.
[[nodiscard]] const Word* word_named(std::string_view text);

/// "A:B", either side empty for infinity.
bool parse_interval(std::string_view text, std::optional<solvers::Interval>& interval);
/// "1.5", "1.5-2i", "2i"
bool parse_complex(std::string_view text, std::complex<double>& z);

/// Options of the command line that are no Settings.
struct Given {
  const Word* word = word_named("LM");  ///< --which
  std::optional<double> threshold;
  bool tol = false;
};

/// Completes the settings. @throws Error(invalid_argument) naming the options that exclude each other.
void check_settings(Settings& settings, const Given& given);

}  // namespace ts::app::tssolve
