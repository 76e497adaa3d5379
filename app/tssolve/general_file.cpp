#include "tallskinny/app/tssolve/general_file.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/outcome_json.hpp"
#include "tallskinny/app/tssolve/problem.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/app/tssolve/scaling.hpp"
#include "tallskinny/io/output_file.hpp"

namespace ts::app::tssolve {

namespace {

using solvers::GeneralResult;

std::vector<double> parts(const GeneralResult& r, bool imaginary) {
  std::vector<double> out;
  out.reserve(r.values.size());
  for (const auto& z : r.values) out.push_back(imaginary ? z.imag() : z.real());
  return out;
}

void print_table(const GeneralResult& r, Profile* profile, double seconds) {
  std::printf("%6s  %24s  %24s  %10s  %10s\n", "index", "real part", "imaginary part", "residual",
              "condition");
  for (std::size_t i = 0; i < r.values.size(); ++i)
    std::printf("%6zu  %24.16g  %24.16g  %10.2e  %10.2e%s\n", i, r.values[i].real(), r.values[i].imag(),
                r.residual_norms[i], r.conditions[i], r.converged_pairs[i] ? "" : "  not converged");
  std::cout << r.reason << ".\n"
            << grouped(r.iterations) << " block steps, " << grouped(r.operator_applications)
            << " operator applications, " << human_seconds(seconds) << '\n';
  if (profile != nullptr) print_profile(std::cout, *profile, seconds);
}

void print_json(const GeneralResult& r, const Settings& settings, Profile* profile,
                const io::Description& input, double seconds, bool is_complex_matrix) {
  JsonObject json;
  json.add("eigenvalues_real", parts(r, false))
      .add("eigenvalues_imag", parts(r, true))
      .add("residual_norms", r.residual_norms)
      .add("conditions", r.conditions);
  add_outcome(json, r);
  json.add("method", "block Krylov-Schur");
  add_work(json, r);
  json.add("elapsed_seconds", seconds)
      .add("norm", r.norm)
      .add("which", name_of(settings.part))
      .add("nev", settings.eigen.nev)
      .add("tol", settings.eigen.tol)
      .add("conv", name_of(settings.eigen.convergence))
      .add("seed", settings.common.seed)
      .add("block_size", r.block_size)
      .add("max_basis", r.max_basis)
      .add("matrix", input.where.text())
      .add("rows", input.rows)
      .add("nonzeros", input.nonzeros)
      .add("type", is_complex_matrix ? "complex128" : "float64");
  if (profile != nullptr) add_profile(json, *profile, seconds);
  std::cout << json.text() << '\n';
}

void write_file(const GeneralResult& r, const Settings& settings, const io::Description& input) {
  io::OutputFile out(settings.common.output);
  Matrix<std::complex<double>> values(static_cast<index_t>(r.values.size()), 1);
  for (std::size_t i = 0; i < r.values.size(); ++i) values(static_cast<index_t>(i), 0) = r.values[i];
  out.write("eigenvalues", values);
  out.write("eigenvectors", r.vectors);
  out.write("residual_norms", std::span<const double>(r.residual_norms));
  out.write("conditions", std::span<const double>(r.conditions));
  const auto flag = [](bool b) { return b ? 1 : 0; };
  out.attribute("/", "program", version_text("tssolve"));
  out.attribute("/", "matrix", input.where.text());
  out.attribute("/", "converged", flag(r.converged));
  out.attribute("/", "verified", flag(r.verified));
  out.attribute("/", "verification", solvers::name_of(r.verification));
  out.attribute("/", "stop", solvers::name_of(r.stop));
  out.attribute("/", "reason", r.reason);
  out.attribute("/", "method", "block Krylov-Schur");
  out.attribute("/", "which", name_of(settings.part));
  out.attribute("/", "nev", settings.eigen.nev);
  out.attribute("/", "tol", settings.eigen.tol);
  out.attribute("/", "conv", name_of(settings.eigen.convergence));
  out.attribute("/", "seed", static_cast<std::int64_t>(settings.common.seed));
  out.attribute("/", "iterations", r.iterations);
  out.attribute("/", "operator_applications", r.operator_applications);
  out.attribute("/", "norm", r.norm);
  out.commit();
}

template <class T>
int solve(const Settings& settings, const Context& ctx, AnyMatrix<T>& matrix, const io::Description& input,
          Profile* profile, Console& console) {
  std::optional<Profile::Use> profiled;
  if (profile != nullptr) profiled.emplace(*profile);
  const auto start = std::chrono::steady_clock::now();
  const int exponent = extreme_exponent(matrix);
  if (exponent != 0) scale(matrix, -exponent);
  Matrix<T> initial(input.rows, 0);
  if (!settings.initial.empty()) initial = read_initial<T>(settings.initial, input.rows);
  solvers::GeneralOptions options{settings.part, settings.eigen};
  auto& common = options.common;
  if (common.convergence == solvers::Convergence::abs) common.tol = std::ldexp(common.tol, -exponent);
  common.stop = [] { return stop_requested(); };
  common.progress = [&console](const solvers::Progress& p) {
    console.progress(p.phase == "verify" ? -1 : p.fraction,
                     grouped(p.converged) + " of " + grouped(p.wanted) + " pairs, " +
                         grouped(p.operator_applications) + " operator applications");
  };
  auto result = solvers::solve_general<T>(ctx, operator_of<T>(matrix), options, initial.cview());
  for (auto& z : result.values) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
  for (double& x : result.residual_norms) x = std::ldexp(x, exponent);
  result.norm = std::ldexp(result.norm, exponent);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!settings.common.json) print_table(result, profile, seconds);
  if (!settings.common.output.empty()) write_file(result, settings, input);
  if (settings.common.json) print_json(result, settings, profile, input, seconds, is_complex<T>);
  if (result.verified) return exit_ok;
  console.warn(result.reason);
  return result.stop == solvers::StopReason::interrupted ? stop_exit_code() : exit_not_converged;
}

}  // namespace

int solve_general_file(const Settings& settings) {
  (void)resolve_processor(settings.common.device);
  Console console("tssolve", settings.common.quiet);
  const auto location = io::parse_location(settings.matrix);
  check_output_paths({{"--output", settings.common.output}}, {settings.matrix, settings.initial});
  Context ctx;
  ctx.threads = settings.common.threads;
  const auto d = io::describe(location, settings.read);
  if (d.rows != d.cols)
    throw Error(Errc::bad_input,
                d.where.text() + " is " + grouped(d.rows) + " x " + grouped(d.cols) +
                    ": eigenvalues need a square matrix (--svd finds singular values of any)");
  const index_t columns = 4 * settings.eigen.nev + 30 * std::max<index_t>(settings.eigen.block_size, 4);
  const std::vector<MemoryUse> uses = {
      {"matrix", d.bytes},
      {"basis and blocks", static_cast<std::uint64_t>(d.rows) * static_cast<std::uint64_t>(columns) * 16}};
  if (settings.common.dry_run) {
    std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols)
              << ", block Krylov-Schur\nmemory:\n";
    print_memory(std::cout, uses, available_memory());
    return exit_ok;
  }
  expect_memory("solving for eigenvalues of " + d.where.text(), uses, available_memory());
  std::shared_ptr<Profile> profile;
  if (settings.profile) profile = begin_profile(ctx);
  auto input = read_any(settings.matrix, settings.read);
  return std::visit(
      [&](auto& matrix) {
        using T = typename std::decay_t<decltype(std::get<0>(matrix))>::value_type;
        return solve<T>(settings, ctx, matrix, d, profile.get(), console);
      },
      input.matrix);
}

}  // namespace ts::app::tssolve
