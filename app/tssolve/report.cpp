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

/// All numbers and words of a run.
template <class Add, class T>
void add_result(const Add& add, const solvers::EigenResult<T>& result, const Settings& settings,
                const RunFacts& facts) {
  add_outcome(add, result, settings);
  add("note", facts.note);
  if (!settings.svd) add("asymmetry", facts.asymmetry), add("symmetrised", settings.symmetrise || facts.asymmetry > 0);
  add("method", facts.method);
  add("method_reason", facts.method_reason);
  add_work(add, result);
  add("elapsed_seconds", facts.elapsed_seconds);
  if constexpr (!Add::is_file)
    add("seconds", JsonObject()
                       .add("operator", result.seconds.applying)
                       .add("orthogonalisation", result.seconds.orthogonalising)
                       .add("restarts", result.seconds.restarting)
                       .add("projected_problem", result.seconds.small));
  add("orthogonality_loss", result.orthogonality_loss);
  add("norm", result.norm);
  add("next_eigenvalue", result.next_value);
  add("gap", result.gap);
  add("which", name_of(settings.eigen.which));
  add("nev", settings.eigen.nev);
  add("tol", settings.eigen.tol);
  add("conv", name_of(settings.eigen.convergence));
  add("precision", name_of(settings.eigen.precision));
  add("float32_applications", result.narrow_applications);
  add("seed", settings.common.seed);
  add("block_size", facts.block_size);
  add("max_basis", facts.max_basis);
  add("matrix", facts.input.where.text());
  if constexpr (!Add::is_file) {
    add("rows", facts.input.rows);
    add("nonzeros", facts.input.nonzeros);
    add("type", facts.type);
  }
  if constexpr (!Add::is_file) add_missing(add.json, settings.read, facts.input);
  add("device", facts.device);
  add("threads", facts.threads);
  add_ranks(add, facts);
  if (!settings.mass.empty()) {
    add("mass", settings.mass);
    if (facts.infinite > 0) add("infinite_eigenvalues", facts.infinite);
    if constexpr (!Add::is_file) add("backward_errors", facts.backward_errors);
  }
  if (settings.sigma) add("sigma", *settings.sigma);
  if (settings.interval) add("interval", interval_text(*settings.interval));
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

template <class T>
void print_json(std::ostream& out, const solvers::EigenResult<T>& result, const Settings& settings,
                const RunFacts& facts) {
  JsonObject json = JsonObject::of_schema("tssolve");
  json.add(plural_name(facts.quantity), result.values)
      .add("residual_norms", result.residual_norms)
      .add("error_bounds", result.error_bounds)
      .add("vector_errors", result.vector_errors)
      .add("multiplicities", result.multiplicities)
      .add("cut_off", result.cut_off)
      .add("copies_counted", result.copies_counted);
  add_result(ToJson{json}, result, settings, facts);
  if (facts.profile) add_profile(json, *facts.profile, facts.elapsed_seconds);
  out << json.text() << '\n';
}

namespace {

/// @param vectors writes them.
template <class T, class Vectors>
std::string write_all(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts,
                      const Extras<T>& extras, const Vectors& vectors) {
  io::OutputFile out(settings.common.output);
  out.write(plural_name(facts.quantity), std::span<const double>(result.values));
  vectors(out);
  for (const auto& [name, extra] : extras)
    if (const auto* matrix = std::get_if<const Matrix<T>*>(&extra))
      out.write(name, **matrix);
    else
      out.write(name, std::span<const double>(std::get<std::vector<double>>(extra)));
  out.write("residual_norms", std::span<const double>(result.residual_norms));
  out.write("error_bounds", std::span<const double>(result.error_bounds));
  out.write("vector_errors", std::span<const double>(result.vector_errors));
  out.write("multiplicities", std::span<const std::int64_t>(result.multiplicities));
  std::vector<std::int64_t> iteration, applications, converged;
  std::vector<double> worst;
  for (const auto& entry : result.history) {
    iteration.push_back(entry.iteration), applications.push_back(entry.operator_applications);
    converged.push_back(entry.converged), worst.push_back(entry.worst);
  }
  out.write("history/iteration", std::span<const std::int64_t>(iteration));
  out.write("history/operator_applications", std::span<const std::int64_t>(applications));
  out.write("history/converged", std::span<const std::int64_t>(converged));
  out.write("history/worst_residual_over_tolerance", std::span<const double>(worst));
  if (!result.history.empty())  // a dense solve has none
    out.write("history/residual_over_tolerance", history_of_pairs(result.history));

  out.attribute("/", "program", version_text("tssolve"));
  add_result(ToFile{out}, result, settings, facts);
  if (!settings.mass.empty()) out.write("backward_errors", std::span<const double>(facts.backward_errors));
  out.commit();
  return out.contents();
}

}  // namespace

template <class T>
std::vector<std::string> write_files(const solvers::EigenResult<T>& result, const Settings& settings,
                                     const RunFacts& facts, const Extras<T>& extras, const Context& ctx) {
  std::vector<std::string> written;
  const bool alone = ctx.communicator->size() == 1;
  with_rows_of_ranks(ctx, {own_rows<T>(result.vectors.cview())}, [&](const RowsOfRanks& ranks) {
    if (!settings.common.output.empty())
      written.push_back(write_all(result, settings, facts, extras, [&](io::OutputFile& out) {
        if (alone)
          out.write(facts.vectors, result.vectors);
        else
          write_rows<T>(out, facts.vectors, ranks, 0, facts.input.rows, result.vectors.cols());
      }));
    const Matrix<T>* left = settings.svd ? std::get<const Matrix<T>*>(extras.front().second) : nullptr;
    write_tables(result, settings, facts, left, alone ? nullptr : &ranks, written);
  });
  return written;
}

#define TS_INSTANTIATE(T)                                                                                            \
  template void print_table<T>(std::ostream&, const solvers::EigenResult<T>&, const RunFacts&);                      \
  template void print_json<T>(std::ostream&, const solvers::EigenResult<T>&, const Settings&, const RunFacts&);      \
  template std::vector<std::string> write_files<T>(const solvers::EigenResult<T>&, const Settings&, const RunFacts&, \
                                                   const Extras<T>&, const Context&);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

namespace {

/// The table of one option, unless that was not given. @param fill adds its elements.
template <class T, class Fill>
void write_table(const std::string& file, index_t rows, index_t cols, const std::string& name, const Fill& fill,
                 std::vector<std::string>& written) {
  if (file.empty()) return;
  io::TableOutput<T> out = open_table<T>(file, rows, cols, {name});
  fill(out);
  out.commit();
  if (file != standard_stream) written.push_back(file + ": " + name + "s");
}

template <class T>
auto all_of(const Matrix<T>& a) {
  return [&a](io::TableOutput<T>& out) { out.add({a.data(), static_cast<std::size_t>(a.rows() * a.cols())}); };
}

template <class T>
void write_values(const std::vector<T>& values, const std::string& name, const std::string& file,
                  std::vector<std::string>& written) {
  write_table<T>(
      file, std::ssize(values), -1, name, [&values](io::TableOutput<T>& out) { out.add(values); }, written);
}

}  // namespace

bool prints_table(const Settings& s) {
  return takes_standard_output({s.values_out, s.vectors_out, s.left_vectors_out}, s.common.json);
}

bool writes_vectors(const Settings& s) { return !s.common.output.empty() || !s.vectors_out.empty(); }

template <class T>
void write_tables(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts,
                  const Matrix<T>* left, const RowsOfRanks* ranks, std::vector<std::string>& written) {
  const bool svd = left != nullptr;
  write_values(result.values, svd ? "singular_value" : "eigenvalue", settings.values_out, written);
  const index_t rows = svd ? result.vectors.rows() : facts.input.rows, cols = result.vectors.cols();
  const auto pieces = [&](io::TableOutput<T>& out) {
    if (ranks == nullptr) return all_of(result.vectors)(out);
    ranks->each_piece(0, [&out](std::span<const std::byte> bytes) {
      out.add({reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)});
    });
  };
  write_table<T>(settings.vectors_out, rows, cols, svd ? "right_singular_vector" : "eigenvector", pieces, written);
  if (svd)
    write_table<T>(settings.left_vectors_out, left->rows(), left->cols(), "left_singular_vector", all_of(*left),
                   written);
}

void write_tables(const solvers::GeneralResult& result, const Settings& settings, std::vector<std::string>& written) {
  write_values(result.values, "eigenvalue", settings.values_out, written);
  const auto& vectors = result.vectors;
  write_table<std::complex<double>>(settings.vectors_out, vectors.rows(), vectors.cols(), "eigenvector",
                                    all_of(vectors), written);
}

#define TS_INSTANTIATE(T)                                                                                           \
  template void write_tables<T>(const solvers::EigenResult<T>&, const Settings&, const RunFacts&, const Matrix<T>*, \
                                const RowsOfRanks*, std::vector<std::string>&);
TS_INSTANTIATE(double)
TS_INSTANTIATE(std::complex<double>)
#undef TS_INSTANTIATE

}  // namespace ts::app::tssolve
