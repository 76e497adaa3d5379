#include "tallskinny/app/tssolve/general_report.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "tallskinny/app/common/options.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/page_parts.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/app/tssolve/told.hpp"
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

std::string asked_for(const Settings& settings) {
  return grouped(settings.eigen.nev) + " eigenvalues, " +
         (settings.sigma ? "nearest to " + complex_text({*settings.sigma, settings.sigma_imaginary})
                         : std::string(name_of(settings.part)));
}

/// The eigenvalues found in the complex plane, with the target and the first one outside.
void add_plane(HtmlPage& page, const GeneralResult& r, const Settings& settings) {
  page.heading("Spectrum");
  if (r.values.empty()) {
    page.paragraph("No eigenvalues.");
    return;
  }
  Chart chart("eigenvalues found, in the complex plane", {"real part"}, {"imaginary part"});
  const auto dot = [&chart](std::complex<double> z, const char* style, const std::string& tooltip) {
    chart.dots({{z.real(), z.imag()}}, style, tooltip);
  };
  dot(r.next_value, "faint", "next eigenvalue, about " + complex_text(r.next_value));
  for (std::size_t i = 0; i < r.values.size(); ++i)
    dot(r.values[i], r.converged_pairs[i] ? "good" : "bad",
        complex_text(r.values[i]) + format(", condition %.2g", r.conditions[i]));
  if (settings.sigma) {
    const std::complex<double> target(*settings.sigma, settings.sigma_imaginary);
    dot(target, "c1", "the target " + complex_text(target));
  }
  page.chart(chart);
}

Facts facts_of(const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  Facts rows;
  const auto add = [&rows](const char* name, const std::string& value) { rows.emplace_back(name, value); };
  add("matrix", grouped(facts.input.rows) + " x " + grouped(facts.input.cols) + ", " + grouped(facts.input.nonzeros) +
                    " entries, " + facts.input.convention);
  add("asked for", asked_for(settings));
  add("tolerance", format("%.3g, ", settings.eigen.tol) + name_of(settings.eigen.convergence));
  add_course(rows, r, facts, r.block_size, r.max_basis);
  add_run(rows, r.norm, settings, facts);
  return rows;
}

}  // namespace

void print_table(std::ostream& out, const GeneralResult& r, const RunFacts& facts) {
  out << format("%6s  %24s  %24s  %10s  %10s\n", "index", "real part", "imaginary part", "residual", "condition");
  for (std::size_t i = 0; i < r.values.size(); ++i)
    out << format("%6zu  %24.16g  %24.16g  %10.2e  %10.2e%s\n", i, r.values[i].real(), r.values[i].imag(),
                  r.residual_norms[i], r.conditions[i], r.converged_pairs[i] ? "" : "  not converged");
  out << r.reason << ".\n"
      << grouped(r.iterations) << " block steps, " << grouped(r.operator_applications) << " operator applications, "
      << human_seconds(facts.elapsed_seconds) << '\n';
  if (facts.profile) print_profile(out, *facts.profile, facts.elapsed_seconds);
}

void print_json(std::ostream& out, const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  JsonObject json;
  json.add("eigenvalues_real", parts(r, false))
      .add("eigenvalues_imag", parts(r, true))
      .add("residual_norms", r.residual_norms)
      .add("conditions", r.conditions);
  add_outcome(ToJson{json}, r);
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
  if (settings.sigma) json.add("sigma_real", *settings.sigma).add("sigma_imag", settings.sigma_imaginary);
  if (facts.profile) add_profile(json, *facts.profile, facts.elapsed_seconds);
  out << json.text() << '\n';
}

std::string write_file(const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  io::OutputFile out(settings.common.output);
  Matrix<std::complex<double>> values(static_cast<index_t>(r.values.size()), 1);
  for (std::size_t i = 0; i < r.values.size(); ++i) values(static_cast<index_t>(i), 0) = r.values[i];
  out.write("eigenvalues", values);
  out.write("eigenvectors", r.vectors);
  out.write("residual_norms", std::span<const double>(r.residual_norms));
  out.write("conditions", std::span<const double>(r.conditions));
  const auto flag = [](bool b) { return b ? 1 : 0; };
  out.attribute("/", "program", version_text("tssolve"));
  out.attribute("/", "matrix", facts.input.where.text());
  out.attribute("/", "converged", flag(r.converged));
  out.attribute("/", "verified", flag(r.verified));
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

void write_html_report(const GeneralResult& r, const Settings& settings, const RunFacts& facts) {
  std::vector<double> magnitudes;
  for (const auto& z : r.values) magnitudes.push_back(std::abs(z));
  HtmlPage page("tssolve: " + facts.input.where.text());
  page.paragraph(r.reason + ".");
  add_convergence(page, r.history);
  add_plane(page, r, settings);
  add_residuals(page, {r.residual_norms, magnitudes, r.converged_pairs, r.norm}, settings);
  add_time(page, r.seconds, facts.elapsed_seconds);
  page.heading("Plan").facts(facts_of(r, settings, facts));
  std::vector<std::vector<std::string>> pairs;
  for (std::size_t i = 0; i < r.values.size(); ++i)
    pairs.push_back({std::to_string(i) + (r.converged_pairs[i] ? "" : " (not converged)"), complex_text(r.values[i]),
                     format("%.2e", r.residual_norms[i]), format("%.2e", r.conditions[i])});
  page.heading("Pairs").table({"index", "eigenvalue", "residual", "condition"}, pairs);
  page.paragraph(version_text("tssolve")).write(settings.report);
}

}  // namespace ts::app::tssolve
