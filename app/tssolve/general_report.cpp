#include <ostream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/report_fields.hpp"
#include "tallskinny/gemm/plan/text.hpp"

namespace ts::app::tssolve {

namespace {

using solvers::GeneralResult;

std::vector<double> parts(const GeneralResult& r, bool imaginary) {
  std::vector<double> out;
  out.reserve(r.values.size());
  for (const auto& z : r.values) out.push_back(imaginary ? z.imag() : z.real());
  return out;
}

}  // namespace

void print_table(std::ostream& out, const GeneralResult& r, const RunFacts& facts) {
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

void print_json(std::ostream& out, const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  JsonObject json = JsonObject::of_schema("tssolve");
  json.add("eigenvalues_real", parts(r, false))
      .add("eigenvalues_imag", parts(r, true))
      .add("residual_norms", r.residual_norms)
      .add("backward_errors", r.backward_errors)
      .add("conditions", r.conditions)
      .add("vector_errors", r.vector_errors);
  add_outcome(ToJson{json}, r, settings);
  json.add("note", facts.note).add("method", facts.method);
  add_work(ToJson{json}, r);
  json.add("elapsed_seconds", facts.elapsed_seconds)
      .add("norm", r.norm)
      .add("which", name_of(settings.part))
      .add("nev", settings.eigen.nev)
      .add("tol", settings.eigen.tol)
      .add("conv", name_of(settings.eigen.convergence))
      .add("seed", settings.common.seed)
      .add("block_size", r.block_size)
      .add("max_basis", r.max_basis)
      .add("matrix", facts.input.where.text())
      .add("rows", facts.input.rows)
      .add("nonzeros", facts.input.nonzeros)
      .add("type", facts.type);
  add_ranks(ToJson{json}, facts);
  if (settings.sigma) json.add("sigma_real", *settings.sigma).add("sigma_imag", settings.sigma_imaginary);
  if (facts.profile) add_profile(json, *facts.profile, facts.elapsed_seconds);
  out << json.text() << '\n';
}

namespace {

std::string write_all_general(const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  io::OutputFile out(settings.common.output);
  Matrix<std::complex<double>> values(static_cast<index_t>(r.values.size()), 1);
  for (std::size_t i = 0; i < r.values.size(); ++i) values(static_cast<index_t>(i), 0) = r.values[i];
  out.write("eigenvalues", values);
  out.write("eigenvectors", r.vectors);
  out.write("residual_norms", std::span<const double>(r.residual_norms));
  out.write("backward_errors", std::span<const double>(r.backward_errors));
  out.write("conditions", std::span<const double>(r.conditions));
  out.write("vector_errors", std::span<const double>(r.vector_errors));
  const auto flag = [](bool b) { return b ? 1 : 0; };
  out.attribute("/", "program", version_text("tssolve"));
  out.attribute("/", "matrix", facts.input.where.text());
  out.attribute("/", "converged", flag(r.converged));
  out.attribute("/", "verified", flag(r.verified));
  out.attribute("/", "accepted_unproven", flag(takes_unproven(r, settings)));
  out.attribute("/", "verification", solvers::name_of(r.verification));
  out.attribute("/", "stop", solvers::name_of(r.stop));
  out.attribute("/", "reason", r.reason);
  out.attribute("/", "note", facts.note);
  out.attribute("/", "method", facts.method);
  if (settings.sigma)
    out.attribute("/", "sigma", complex_text({*settings.sigma, settings.sigma_imaginary}));
  else
    out.attribute("/", "which", name_of(settings.part));
  out.attribute("/", "nev", settings.eigen.nev);
  out.attribute("/", "tol", settings.eigen.tol);
  out.attribute("/", "conv", name_of(settings.eigen.convergence));
  out.attribute("/", "seed", static_cast<std::int64_t>(settings.common.seed));
  out.attribute("/", "iterations", r.iterations);
  out.attribute("/", "operator_applications", r.operator_applications);
  out.attribute("/", "norm", r.norm);
  out.commit();
  return out.contents();
}

}  // namespace

std::vector<std::string> write_files(const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  std::vector<std::string> written;
  if (!settings.common.output.empty()) written.push_back(write_all_general(r, settings, facts));
  write_tables(r, settings, written);
  return written;
}

}  // namespace ts::app::tssolve
