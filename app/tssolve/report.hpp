// The result as a table, as JSON, as a file and as a page.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/app/tssolve/settings.hpp"
#include "tallskinny/gemm/runtime/profile.hpp"
#include "tallskinny/solvers/eigen/general/krylov_schur.hpp"
#include "tallskinny/solvers/setup/hermitian_part.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"

namespace ts::app::tssolve {

/// Facts of a run beside the solver's result.
struct RunFacts {
  io::Description input;
  std::string method, method_reason, device;
  std::string note;          ///< empty, or what was done differently from what was asked
  double asymmetry = 0;      ///< SkewPart::largest of the matrix
  solvers::Dropped dropped;  ///< what error bounds count; nothing where the Hermitian part was asked for
  int threads = 0, ranks = 1;
  std::string ranks_work = {};                  ///< of several: who worked
  std::string reordering = {};                  ///< of --reorder: what it does to products
  bool reordered = false;                       ///< whether that order was taken
  std::optional<solvers::SentBytes> sent = {};  ///< by ranks, in the order of the file and in that one
  const char* type = "float64";                 ///< of the matrix as it is solved
  index_t block_size = 0, max_basis = 0;
  double elapsed_seconds = 0;
  /// Names of the values and vectors in reports.
  std::string quantity = "eigenvalue", vectors = "eigenvectors";
  std::vector<double> backward_errors = {};  ///< of a pencil's pairs
  index_t infinite = 0;                      ///< eigenvalues of a pencil with a singular mass matrix, at least
  std::shared_ptr<Profile> profile = {};     ///< null: none was asked for
};

/// The sine of an angle, or "-" where none is known.
[[nodiscard]] std::string angle_text(double sine);

template <class T>
void print_table(std::ostream& out, const solvers::EigenResult<T>& result, const RunFacts& facts);
void print_table(std::ostream& out, const solvers::GeneralResult& result, const RunFacts& facts);

template <class Result>
void print_json(std::ostream& out, const Result& result, const Settings& settings, const RunFacts& facts);

/// A data set that a decomposition adds to the file: a name, and a matrix or a list.
template <class T>
using Extras = std::vector<std::pair<std::string, std::variant<const Matrix<T>*, std::vector<double>>>>;

/// Writes settings.common.output and the tables that were asked for, and returns a line for each.
/// @param extras of singular values: the left vectors first
/// @throws Error(io_failure)
template <class Result, class T = typename decltype(Result::vectors)::value_type>
std::vector<std::string> write_files(const Result& result, const Settings& settings, const RunFacts& facts,
                                     const Extras<T>& extras = {}, const Context& ctx = {});

/// One self-contained page for --report: convergence, spectrum, residuals and times as charts, then the plan and the
/// pairs as tables, to settings.report. @throws Error(io_failure)
template <class Result>
void write_html_report(const Result& result, const Settings& settings, const RunFacts& facts);

/// True if a table goes to standard output. @throws Error(invalid_argument) for --json beside it.
[[nodiscard]] bool prints_table(const Settings& settings);
/// True if vectors are written to any file.
[[nodiscard]] bool writes_vectors(const Settings& settings);

/// A profile for work with this Context, whose roofs are measured now: those of the GPU, if it has one.
[[nodiscard]] std::shared_ptr<Profile> begin_profile(const Context& ctx);

/// A table with a line for each kind of work.
/// @param elapsed seconds of the whole run.
void print_profile(std::ostream& out, Profile& profile, double elapsed);
/// Adds the profile as a member "profile".
void add_profile(JsonObject& json, Profile& profile, double elapsed);

}  // namespace ts::app::tssolve
