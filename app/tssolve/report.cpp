#include "tallskinny/app/tssolve/report.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/report_fields.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app::tssolve {

namespace {

/// "singular value" as the name of a list of them.
std::string plural_name(std::string quantity) {
  std::replace(quantity.begin(), quantity.end(), ' ', '_');
  return quantity + "s";
}

template <class Result>
inline constexpr bool is_general = std::is_same_v<Result, solvers::GeneralResult>;

/// One row for each look, one column for each wanted pair from the end of the spectrum inwards; NaN where a
/// look was at something else.
Matrix<double> history_of_pairs(const std::vector<solvers::HistoryEntry>& history) {
  std::size_t pairs = 0;
  for (const auto& entry : history) pairs = std::max(pairs, entry.ratios.size());
  Matrix<double> m(static_cast<index_t>(history.size()), static_cast<index_t>(pairs));
  for (index_t i = 0; i < m.rows(); ++i)
    for (index_t j = 0; j < m.cols(); ++j) {
      const auto& ratios = history[static_cast<std::size_t>(i)].ratios;
      const auto column = static_cast<std::size_t>(j);
      m(i, j) = column < ratios.size() ? ratios[column] : std::nan("");
    }
  return m;
}

/// Fields of searches of Hermitian matrices and for singular values alone.
template <class Add, class T>
void add_hermitian(const Add& add, const solvers::EigenResult<T>& result, const Settings& settings,
                   const RunFacts& facts) {
  if (!settings.svd) add("asymmetry", facts.asymmetry), add("symmetrised", settings.symmetrise || facts.asymmetry > 0);
  add("method_reason", facts.method_reason);
  if constexpr (!Add::is_file)
    add("seconds", JsonObject()
                       .add("operator", result.seconds.applying)
                       .add("orthogonalisation", result.seconds.orthogonalising)
                       .add("restarts", result.seconds.restarting)
                       .add("projected_problem", result.seconds.small));
  add("orthogonality_loss", result.orthogonality_loss);
  add("next_eigenvalue", result.next_value);
  add("gap", result.gap);
  add("which", name_of(settings.eigen.which));
  add("precision", name_of(settings.eigen.precision));
  add("float32_applications", result.narrow_applications);
  add("block_size", facts.block_size);
  add("max_basis", facts.max_basis);
  if constexpr (!Add::is_file) add_missing(add.json, settings.read, facts.input);
  add("device", facts.device);
  add("threads", facts.threads);
  if (!settings.mass.empty()) {
    add("mass", settings.mass);
    if (facts.infinite > 0) add("infinite_eigenvalues", facts.infinite);
    if constexpr (!Add::is_file) add("backward_errors", facts.backward_errors);
  }
  if (settings.sigma) add("sigma", *settings.sigma);
  if (settings.interval) add("interval", interval_text(*settings.interval));
}

/// Fields of searches of other matrices alone.
template <class Add>
void add_general(const Add& add, const solvers::GeneralResult& result, const Settings& settings) {
  add("which", name_of(settings.part));
  add("block_size", result.block_size);
  add("max_basis", result.max_basis);
  if (!settings.sigma) return;
  if constexpr (Add::is_file)
    add("sigma", complex_text({*settings.sigma, settings.sigma_imaginary}));
  else
    add("sigma_real", *settings.sigma), add("sigma_imag", settings.sigma_imaginary);
}

/// All numbers and words of a run.
template <class Add, class Result>
void add_result(const Add& add, const Result& result, const Settings& settings, const RunFacts& facts) {
  add_outcome(add, result, settings);
  add("note", facts.note);
  add("method", facts.method);
  add_work(add, result);
  add("elapsed_seconds", facts.elapsed_seconds);
  add("norm", result.norm);
  add("nev", settings.eigen.nev);
  add("tol", settings.eigen.tol);
  add("conv", name_of(settings.eigen.convergence));
  add("seed", settings.common.seed);
  add("matrix", facts.input.where.text());
  if constexpr (!Add::is_file) {
    add("rows", facts.input.rows);
    add("nonzeros", facts.input.nonzeros);
    add("type", facts.type);
  }
  add_ranks(add, facts);
  if constexpr (is_general<Result>)
    add_general(add, result, settings);
  else
    add_hermitian(add, result, settings, facts);
}

}  // namespace

std::string angle_text(double sine) { return std::isnan(sine) ? "-" : format("%.2e", sine); }

template <class T>
void print_table(std::ostream& out, const solvers::EigenResult<T>& result, const RunFacts& facts) {
  out << format("%6s  %24s  %10s  %10s  %10s  %s\n", "index", facts.quantity.c_str(), "error <", "angle <", "residual",
                "multiplicity");
  for (std::size_t i = 0; i < result.values.size(); ++i)
    out << format("%6zu  %24.16g  %10.2e  %10s  %10.2e  %12lld%s\n", i, result.values[i], result.error_bounds[i],
                  angle_text(result.vector_errors[i]).c_str(), result.residual_norms[i],
                  static_cast<long long>(result.multiplicities[i]), result.converged_pairs[i] ? "" : "  not converged");
  if (std::any_of(result.multiplicities.begin(), result.multiplicities.end(),
                  [](index_t copies) { return copies > 1; }))
    out << "vectors of copies are one basis of many: their angle is that to the space of all copies\n";
  if (std::isfinite(result.gap)) out << format("gap to the next %s: about %.3g\n", facts.quantity.c_str(), result.gap);
  if (!facts.note.empty()) out << facts.note << ".\n";
  out << result.reason << ".\n"
      << format("%s block steps, %s operator applications, %s\n", grouped(result.iterations).c_str(),
                grouped(result.operator_applications).c_str(), human_seconds(facts.elapsed_seconds).c_str());
  if (facts.profile) print_profile(out, *facts.profile, facts.elapsed_seconds);
}

void print_table(std::ostream& out, const solvers::GeneralResult& r, const RunFacts& facts) {
  out << format("%6s  %24s  %24s  %10s  %10s  %10s  %10s\n", "index", "real part", "imaginary part", "residual",
                "backward", "condition", "angle <");
  for (std::size_t i = 0; i < r.values.size(); ++i)
    out << format("%6zu  %24.16g  %24.16g  %10.2e  %10.2e  %10.2e  %10s%s\n", i, r.values[i].real(), r.values[i].imag(),
                  r.residual_norms[i], r.backward_errors[i], r.conditions[i], angle_text(r.vector_errors[i]).c_str(),
                  r.converged_pairs[i] ? "" : "  not converged");
  out << r.reason << ".\n"
      << grouped(r.iterations) << " block steps, " << grouped(r.operator_applications) << " operator applications, "
      << human_seconds(facts.elapsed_seconds) << '\n';
  if (facts.profile) print_profile(out, *facts.profile, facts.elapsed_seconds);
}

template <class Result>
void print_json(std::ostream& out, const Result& result, const Settings& settings, const RunFacts& facts) {
  JsonObject json = JsonObject::of_schema("tssolve");
  if constexpr (is_general<Result>) {
    std::vector<double> real, imaginary;
    for (const auto& z : result.values) real.push_back(z.real()), imaginary.push_back(z.imag());
    json.add("eigenvalues_real", real).add("eigenvalues_imag", imaginary);
    json.add("backward_errors", result.backward_errors).add("conditions", result.conditions);
  } else {
    json.add(plural_name(facts.quantity), result.values).add("error_bounds", result.error_bounds);
    json.add("multiplicities", result.multiplicities).add("cut_off", result.cut_off);
    json.add("copies_counted", result.copies_counted);
  }
  json.add("residual_norms", result.residual_norms).add("vector_errors", result.vector_errors);
  add_result(ToJson{json}, result, settings, facts);
  if (facts.profile) add_profile(json, *facts.profile, facts.elapsed_seconds);
  out << json.text() << '\n';
}

namespace {

/// @param vectors writes them.
template <class Result, class Extra, class Vectors>
std::string write_all(const Result& result, const Settings& settings, const RunFacts& facts, const Extra& extras,
                      const Vectors& vectors) {
  io::OutputFile out(settings.common.output);
  const auto write_list = [&out](const char* name, const std::vector<double>& list) {
    out.write(name, std::span<const double>(list));
  };
  if constexpr (is_general<Result>)
    out.write("eigenvalues", HostView<const std::complex<double>>(result.values.data(), std::ssize(result.values), 1));
  else
    write_list(plural_name(facts.quantity).c_str(), result.values);
  vectors(out);
  for (const auto& [name, extra] : extras)
    if (const auto* list = std::get_if<std::vector<double>>(&extra))
      write_list(name.c_str(), *list);
    else
      out.write(name, *std::get<0>(extra));
  write_list("residual_norms", result.residual_norms);
  write_list("vector_errors", result.vector_errors);
  if constexpr (is_general<Result>) {
    write_list("backward_errors", result.backward_errors);
    write_list("conditions", result.conditions);
  } else {
    write_list("error_bounds", result.error_bounds);
    out.write("multiplicities", std::span<const std::int64_t>(result.multiplicities));
    if (!settings.mass.empty()) write_list("backward_errors", facts.backward_errors);
  }
  std::vector<std::int64_t> iteration, applications, converged;
  std::vector<double> worst;
  for (const auto& entry : result.history) {
    iteration.push_back(entry.iteration), applications.push_back(entry.operator_applications);
    converged.push_back(entry.converged), worst.push_back(entry.worst);
  }
  out.write("history/iteration", std::span<const std::int64_t>(iteration));
  out.write("history/operator_applications", std::span<const std::int64_t>(applications));
  out.write("history/converged", std::span<const std::int64_t>(converged));
  write_list("history/worst_residual_over_tolerance", worst);
  if (!result.history.empty())  // a dense solve has none
    out.write("history/residual_over_tolerance", history_of_pairs(result.history));
  out.attribute("/", "program", version_text("tssolve"));
  add_result(ToFile{out}, result, settings, facts);
  out.commit();
  return out.contents();
}

/// Writes the table of one option, unless that was not given. @param fill adds its elements.
template <class T, class Fill>
void write_table(const std::string& file, index_t rows, index_t cols, const std::string& names, const Fill& fill,
                 std::vector<std::string>& written) {
  if (file.empty()) return;
  io::TableOutput<T> out = open_table<T>(file, rows, cols, {names.substr(0, names.size() - 1)});
  fill(out);
  out.commit();
  if (file != standard_stream) written.push_back(file + ": " + names);
}

template <class T>
auto all_of(const Matrix<T>& a) {
  return [&a](io::TableOutput<T>& out) { out.add({a.data(), static_cast<std::size_t>(a.rows() * a.cols())}); };
}

}  // namespace

template <class Result, class T>
std::vector<std::string> write_files(const Result& result, const Settings& settings, const RunFacts& facts,
                                     const Extras<T>& extras, const Context& ctx) {
  using Value = typename decltype(result.values)::value_type;
  std::vector<std::string> written;
  const bool alone = ctx.communicator->size() == 1;
  const Matrix<T>& vectors = result.vectors;
  const index_t rows = settings.svd ? vectors.rows() : facts.input.rows;
  with_rows_of_ranks(ctx, {own_rows<T>(vectors.cview())}, [&](const RowsOfRanks& ranks) {
    if (!settings.common.output.empty())
      written.push_back(write_all(result, settings, facts, extras, [&](io::OutputFile& out) {
        if (alone)
          out.write(facts.vectors, vectors);
        else
          write_rows<T>(out, facts.vectors, ranks, 0, rows, vectors.cols());
      }));
    write_table<Value>(
        settings.values_out, std::ssize(result.values), -1, plural_name(facts.quantity),
        [&](io::TableOutput<Value>& out) { out.add(result.values); }, written);
    const auto pieces = [&](io::TableOutput<T>& out) {
      if (alone) return all_of(vectors)(out);
      ranks.each_piece(0, [&out](std::span<const std::byte> bytes) {
        out.add({reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)});
      });
    };
    write_table<T>(settings.vectors_out, rows, vectors.cols(), facts.vectors, pieces, written);
    if (!settings.svd) return;
    const Matrix<T>& left = *std::get<0>(extras.front().second);
    write_table<T>(settings.left_vectors_out, left.rows(), left.cols(), extras.front().first, all_of(left), written);
  });
  return written;
}

bool prints_table(const Settings& s) {
  return takes_standard_output({s.values_out, s.vectors_out, s.left_vectors_out}, s.common.json);
}

bool writes_vectors(const Settings& s) { return !s.common.output.empty() || !s.vectors_out.empty(); }

#define TS_INSTANTIATE(Result, T)                                                                                  \
  template void print_json(std::ostream&, const Result&, const Settings&, const RunFacts&);                        \
  template std::vector<std::string> write_files(const Result&, const Settings&, const RunFacts&, const Extras<T>&, \
                                                const Context&);
TS_INSTANTIATE(solvers::EigenResult<double>, double)
TS_INSTANTIATE(solvers::EigenResult<std::complex<double>>, std::complex<double>)
TS_INSTANTIATE(solvers::GeneralResult, std::complex<double>)
#undef TS_INSTANTIATE
template void print_table(std::ostream&, const solvers::EigenResult<double>&, const RunFacts&);
template void print_table(std::ostream&, const solvers::EigenResult<std::complex<double>>&, const RunFacts&);

}  // namespace ts::app::tssolve
