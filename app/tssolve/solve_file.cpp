#include "tallskinny/app/tssolve/solve_file.hpp"

#include <chrono>
#include <cmath>
#include <future>
#include <iostream>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/app/common/device.hpp"
#include "tallskinny/app/common/exit_code.hpp"
#include "tallskinny/app/common/json.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/output_path.hpp"
#include "tallskinny/app/common/stop.hpp"
#include "tallskinny/app/common/text.hpp"
#include "tallskinny/app/tssolve/checkpoint.hpp"
#include "tallskinny/app/tssolve/general_file.hpp"
#include "tallskinny/app/tssolve/html_report.hpp"
#include "tallskinny/app/tssolve/input.hpp"
#include "tallskinny/app/tssolve/problem.hpp"
#include "tallskinny/app/tssolve/profile_report.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/app/tssolve/scaling.hpp"
#include "tallskinny/app/tssolve/svd_file.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/solvers/eigen/hermitian/memory_plan.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"

namespace ts::app::tssolve {

namespace {

/// Where A - sigma I is factorised: --sigma, or 0 for SM.
std::optional<double> target_of(const Settings& settings) {
  if (settings.sigma) return settings.sigma;
  if (settings.eigen.which == solvers::Which::SM) return 0.0;
  return std::nullopt;
}

const std::string in_float64_anyway =
    "the matrix was solved densely or through a cheap factorisation, which is done in float64";

const char* method_text(const Settings& settings, const solvers::EigenPlan& plan) {
  if (plan.method == solvers::Method::dense) return "dense";
  if (plan.method == solvers::Method::lobpcg) return "LOBPCG";
  if (plan.method == solvers::Method::davidson) return "block Davidson";
  if (settings.interval)
    return settings.eigen.method == solvers::Method::automatic
               ? "spectrum slicing by shift-invert block Lanczos"
               : "block Lanczos until the interval is covered";
  const bool target = target_of(settings).has_value();
  return target ? "block Lanczos, shift-invert" : "block Lanczos";
}

/// Why that one, as half a sentence; empty where it is the one that was asked for.
std::string reason_of(const Settings& settings, const solvers::EigenPlan& plan) {
  if (settings.eigen.method == solvers::Method::automatic && plan.method == solvers::Method::lanczos) {
    if (settings.interval) return "factorisations at the ends of slices count what is in them";
    if (target_of(settings)) return "the inverse makes what is near the target converge first";
  }
  return std::string(plan.why);
}

/// Does the iteration see the matrix in float32?
bool is_narrow(const Settings& settings, const solvers::EigenPlan& plan) {
  return settings.eigen.precision != solvers::Precision::float64 && plan.method == solvers::Method::lanczos;
}

/// The shares of a plan in the memory of the host, or of the device.
std::vector<MemoryUse> uses_of(const solvers::MemoryPlan& memory, bool device) {
  std::vector<MemoryUse> uses;
  for (const auto& share : memory.shares)
    if ((share.home == solvers::Home::device) == device)
      uses.push_back(
          {share.what + (share.home == solvers::Home::locked ? ", page-locked" : ""), share.bytes});
  return uses;
}

/// What a run may take.
struct Available {
  std::uint64_t host = 0, device = 0;
};
Available available_to(const Settings& settings, const Context& ctx) {
  const auto within = [](std::uint64_t there_is, std::uint64_t limit) {
    return limit == 0 || (there_is != 0 && there_is < limit) ? there_is : limit;
  };
  if (!ctx.stream) return {within(available_memory(), settings.memory), 0};
  return {available_memory(), within(cuda::free_memory(ctx.stream), settings.memory)};
}

/// What runs on the processor only is refused on a device.
void expect_on_device(const Settings& settings, const Device& device) {
  std::string what;
  if (settings.interval) what = "--interval";
  if (!settings.mass.empty()) what = "--mass";
  if (target_of(settings)) what = settings.sigma ? "--sigma" : "--which SM";
  if (settings.eigen.method == solvers::Method::lobpcg) what = "--method lobpcg";
  if (settings.eigen.method == solvers::Method::davidson) what = "--method davidson";
  if (what.empty()) return;
  throw Error(Errc::invalid_argument,
              what + " runs on the processor only, not on " + device_text(device) + ": use --device cpu");
}

int show_plan(const Settings& settings, const io::Description& input, const solvers::EigenPlan& plan,
              const solvers::MemoryPlan& memory, const Available& available) {
  const auto in_host = uses_of(memory, false), on_device = uses_of(memory, true);
  const char* method = method_text(settings, plan);
  const std::string reason = reason_of(settings, plan);
  if (settings.common.json) {
    JsonObject json;
    json.add("matrix", input.where.text()).add("rows", input.rows).add("nonzeros", input.nonzeros);
    json.add("method", method)
        .add("method_reason", reason)
        .add("precision", name_of(settings.eigen.precision))
        .add("nev", plan.nev)
        .add("block_size", plan.block_size);
    json.add("max_basis", plan.max_basis).add("max_iterations", plan.max_iterations);
    add_memory(json, in_host, available.host);
    if (!on_device.empty()) {
      JsonObject device;
      add_memory(device, on_device, available.device);
      json.add("device_memory", device).add("basis_on_device", !memory.spills);
    }
    std::cout << json.text() << '\n';
    return exit_ok;
  }
  std::cout << input.where.text() << ": " << grouped(input.rows) << " x " << grouped(input.cols) << ", "
            << grouped(input.nonzeros) << " entries, " << input.convention << '\n'
            << "method: " << method << (reason.empty() ? "" : ", since " + reason) << '\n';
  if (plan.method != solvers::Method::dense)
    std::cout << "block size " << plan.block_size << ", basis of " << plan.max_basis << " vectors, at most "
              << grouped(plan.max_iterations) << " block steps\n";
  std::cout << (on_device.empty() ? "memory:\n" : "host memory:\n");
  print_memory(std::cout, in_host, available.host);
  if (!on_device.empty()) {
    std::cout << "device memory:\n";
    print_memory(std::cout, on_device, available.device);
  }
  if (memory.spills)
    std::cout << "the basis does not fit on the device: it passes through it for every product\n";
  if (plan.method == solvers::Method::lanczos && target_of(settings))
    std::cout << "and the factors of A - sigma I, whose size is known only once they are ordered\n";
  return exit_ok;
}

template <class T>
solvers::EigenResult<T> solve_interval_of(const Settings& settings, const Context& ctx,
                                          const solvers::EigenProblem<T>& problem,
                                          const solvers::EigenOptions& options, int exponent,
                                          const io::Description& input) {
  const solvers::Interval scaled{std::ldexp(settings.interval->low, -exponent),
                                 std::ldexp(settings.interval->high, -exponent)};
  return solvers::solve_interval<T>(ctx, problem, options, scaled, [&](index_t count) {
    const auto bytes = static_cast<std::uint64_t>(input.rows) * static_cast<std::uint64_t>(count) * sizeof(T);
    expect_memory("keeping the " + grouped(count) + " eigenvectors of the interval",
                  {{"eigenvectors", 4 * bytes}}, available_memory());
  });
}

template <class T>
std::uint64_t fingerprint_of(const AnyMatrix<T>& matrix, const std::optional<CsrMatrix<T>>& mass,
                             int threads) {
  const auto of_matrix = fingerprint<T>(matrix, threads);
  return mass ? of_matrix + 31 * fingerprint<T>(AnyMatrix<T>(CsrMatrix<T>(*mass)), threads) : of_matrix;
}

/// A given matrix near A^-1; it must outlive the operator.
template <class T>
solvers::Operator<T> given_preconditioner(const Input& input, index_t rows,
                                          const std::optional<solvers::MassFactor<T>>& mass_factor) {
  const auto* matrix = std::get_if<AnyMatrix<T>>(&input.matrix);
  if (matrix == nullptr || input.description.rows != rows)
    throw Error(Errc::bad_input, "the preconditioner " + input.description.where.text() +
                                     " has another size than the matrix, or is complex for a real one");
  auto op = operator_of<T>(*matrix);
  return mass_factor ? mass_factor->standard_inverse(std::move(op)) : op;
}

/// What --preconditioner names by a word; `auto` is the diagonal for SA.
std::optional<Preconditioner> named_preconditioner(const Settings& settings) {
  const auto& name = settings.preconditioner;
  if (name == "jacobi" || (name == "auto" && settings.eigen.which == solvers::Which::SA))
    return Preconditioner::jacobi;
  if (name == "ichol") return Preconditioner::incomplete_cholesky;
  if (name == "chebyshev") return Preconditioner::chebyshev;
  return std::nullopt;
}

const char* text_of(Preconditioner kind) {
  switch (kind) {
    case Preconditioner::jacobi:
      return "the diagonal";
    case Preconditioner::incomplete_cholesky:
      return "an incomplete Cholesky factorisation";
    case Preconditioner::chebyshev:
      return "a Chebyshev polynomial";
  }
  return "?";
}

/// Assembled as asked for; where no shift near the target can be factorised and the matrix is small, for the
/// dense solver.
template <class T>
Assembled<T> assemble_or_whole(const AnyMatrix<T>& matrix, const std::optional<CsrMatrix<T>>& mass,
                               std::optional<double> target, Factorise factorise,
                               solvers::EigenOptions& options) {
  try {
    return assemble<T>(matrix, mass, target, factorise);
  } catch (const Error&) {
    if (factorise != Factorise::needed || operator_of<T>(matrix).rows() > solvers::takeover_rows) throw;
    options.method = solvers::Method::dense;
    return assemble<T>(matrix, mass, target, Factorise::nothing);
  }
}

template <class T>
int solve_and_report(const Settings& settings, const solvers::EigenPlan& plan, const Context& ctx,
                     AnyMatrix<T>& matrix, std::optional<CsrMatrix<T>> mass, RunFacts facts,
                     CheckpointFile& kept, Console& console) {
  std::optional<Profile::Use> profiled;
  if (facts.profile) profiled.emplace(*facts.profile);
  const auto start = std::chrono::steady_clock::now();
  std::optional<EndsOnSignal> preparing(std::in_place);
  const bool narrow = is_narrow(settings, plan);
  int exponent = extreme_exponent(matrix, narrow);
  if (exponent != 0) scale(matrix, -exponent);
  if (mass) {
    AnyMatrix<T> scaled(std::move(*mass));
    const int of_mass = extreme_exponent(scaled);
    if (of_mass != 0) scale(scaled, -of_mass);
    exponent -= of_mass, mass = std::move(std::get<CsrMatrix<T>>(scaled));
  }
  Matrix<T> initial(facts.input.rows, 0);
  if (!settings.initial.empty()) initial = read_initial<T>(settings.initial, facts.input.rows, settings.read);

  std::optional<double> target = target_of(settings);
  if (target) target = std::ldexp(*target, -exponent);
  Factorise factorise = Factorise::cheap;
  if (plan.method == solvers::Method::dense)
    factorise = Factorise::nothing;
  else if (target || (settings.interval && settings.eigen.method == solvers::Method::automatic))
    factorise = Factorise::needed;
  if (mass) console.note("factorising the mass matrix");
  if (factorise == Factorise::needed) console.note("factorising A - sigma I");
  auto options = settings.eigen;
  auto assembled = assemble_or_whole<T>(matrix, mass, target, factorise, options);
  auto& [problem, mass_factor, note] = assembled;
  if (!note.empty()) console.warn(note);
  facts.note += (facts.note.empty() || note.empty() ? "" : "; ") + note;
  std::optional<Input> preconditioner;
  if (solvers::is_preconditioned(plan.method)) {
    if (const auto kind = named_preconditioner(settings)) {
      problem.preconditioner = preconditioner_of<T>(ctx, matrix, assembled, *kind, settings.eigen.which);
      facts.method += std::string(", preconditioned by ") + text_of(*kind);
    } else if (settings.preconditioner != "none" && settings.preconditioner != "auto") {
      preconditioner = read_hermitian(settings.preconditioner, settings.read, Role::companion);
      if (is_complex<T>) make_complex(*preconditioner);
      problem.preconditioner = given_preconditioner<T>(*preconditioner, facts.input.rows, mass_factor);
      facts.method += ", preconditioned by " + settings.preconditioner;
    }
  }
  DeviceCopy<T> there;
  if (ctx.stream) {
    there = copy_to<T>(ctx.stream, matrix);
    problem.a = operator_of<T>(matrix, there);
    problem.invert = nullptr;  // factors are applied on the processor
  }
  Rounded<T> narrow_numbers;
  if (narrow) {
    narrow_numbers = rounded<T>(ctx, matrix, there);
    problem.narrow = operator_of<T>(matrix, there, narrow_numbers);
  }
  if (options.convergence == solvers::Convergence::abs) options.tol = std::ldexp(options.tol, -exponent);
  options.vectors = !settings.common.output.empty() || mass || settings.interval;
  options.stop = [] { return stop_requested(); };
  std::optional<EndsOnSignal> whole;  // a dense solve cannot be stopped half-way
  options.progress = [&](const solvers::Progress& p) {
    if (p.phase == "dense") {
      preparing.reset(), whole.emplace();
      return console.progress(-1, "computing all eigenvalues");
    }
    const std::string counted = grouped(p.operator_applications) + " operator applications";
    if (p.phase == "verify")
      console.progress(-1, "searching for missing copies, " + counted);
    else
      console.progress(p.fraction, grouped(p.converged) + " of " + grouped(p.wanted) + " pairs, " + counted);
  };
  Checkpoint<T> checkpoint(kept, kept.asked_for() ? fingerprint_of(matrix, mass, ctx.thread_count()) : 0,
                           fingerprint<T>(settings, initial.cview()));
  if (kept.resumes()) console.note("going on from " + kept.name());
  preparing.reset();
  auto result = settings.interval
                    ? solve_interval_of<T>(settings, ctx, problem, options, exponent, facts.input)
                    : solvers::solve_eigen<T>(ctx, problem, options, initial.cview(), checkpoint.hooks());
  whole.reset();
  if (mass) {
    const auto checks =
        solvers::to_pencil<T>(ctx, operator_of<T>(matrix), mass->view(), *mass_factor, options, result);
    facts.backward_errors = checks.backward_errors;
  }
  if (exponent != 0) scale_result(result, exponent, facts.input.where.text());
  facts.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.taken_over || (options.method == solvers::Method::dense && plan.method != options.method))
    facts.method = "dense, in place of " + facts.method;
  const auto instead = [&](const std::string& what, const char* why) {
    facts.method += what;
    if (settings.eigen.method != solvers::Method::automatic) return;
    facts.method_reason += std::string(facts.method_reason.empty() ? "" : "; ") + why;
    console.note("took " + facts.method + ", since " + why);
  };
  if (result.shift && !target)
    instead(" through shift-invert beyond the end of the spectrum at " + short_number(*result.shift),
            "that end converges slowly and a factorisation is cheap");
  if (result.filter_degree > 0)
    instead(" on a Chebyshev polynomial of degree " + std::to_string(result.filter_degree),
            "that end converges slowly and products cost less than steps of orthogonalisation");
  if (result.narrow_applications > 0)
    facts.method += settings.eigen.precision == solvers::Precision::float32 ? ", in float32"
                                                                            : ", in float32 and then float64";
  else if (settings.eigen.precision != solvers::Precision::float64)
    facts.note += (facts.note.empty() ? "" : "; ") + in_float64_anyway;

  // Before the files: where they cannot be written the result is told all the same.
  if (!settings.common.json) print_table(std::cout, result, facts);
  if (!settings.common.output.empty()) console.note("wrote " + write_file(result, settings, facts));
  if (!settings.report.empty()) {
    write_html_report(result, settings, facts);
    console.note("wrote " + settings.report + ": a page with pictures");
  }
  // A run that was stopped, or used up its budget, may be taken up again.
  if (result.stop == solvers::StopReason::converged || result.stop == solvers::StopReason::rounding)
    kept.remove();
  else if (kept.kept())
    console.note("the same command goes on from " + kept.name());
  if (settings.common.json) print_json(std::cout, result, settings, facts);
  if (settings.eigen.nev > facts.input.rows && !settings.interval)
    console.warn(grouped(settings.eigen.nev) + " eigenvalues were asked for, but the matrix has only " +
                 grouped(facts.input.rows));
  if (result.stop == solvers::StopReason::interrupted) {
    console.warn(result.reason);
    return stop_exit_code();
  }
  if (result.verified) return exit_ok;
  console.warn(result.reason);
  return exit_not_converged;
}

}  // namespace

int solve_file(Settings settings) {
  const bool on_processor = settings.svd || settings.general;
  Device device = on_processor ? Device{} : resolve_device(settings.common.device);
  if (device.kind == Device::Kind::cpu) settings.read.memory_limit = settings.memory;
  if (settings.svd) return decompose_file(settings);
  if (settings.general) return solve_general_file(settings);
  if (device.kind == Device::Kind::cuda) expect_on_device(settings, device);
  Console console("tssolve", settings.common.quiet);
  const auto location = io::parse_location(settings.matrix);
  check_output_paths({{"--output", settings.common.output},
                      {"--checkpoint", settings.checkpoint.file},
                      {"--report", settings.report}},
                     {settings.matrix, settings.initial, settings.mass, settings.preconditioner});
  CheckpointFile kept("tssolve", settings.checkpoint, console);
  Context ctx;
  ctx.threads = settings.common.threads;
  ctx.log = [&](std::string_view line) { console.note(line); };

  RunFacts facts;
  facts.input = io::describe(location, settings.read);
  index_t initial_columns = 0;
  if (!settings.initial.empty())
    initial_columns =
        io::describe(io::parse_location(settings.initial), settings.read.of_another_file()).cols;
  const bool is_complex_matrix =
      facts.input.type == DType::complex128 || facts.input.type == DType::complex64;
  const auto plan =
      solvers::plan_eigen(facts.input.rows, is_complex_matrix ? 16 : 8, settings.eigen, initial_columns);
  if (device.kind == Device::Kind::cuda && plan.method == solvers::Method::dense) {
    console.note("the matrix is solved densely, which is done on the processor");
    device = {};
  }
  if (device.kind == Device::Kind::cuda) ctx.stream = cuda::Stream(device.index);
  const Available available = available_to(settings, ctx);
  solvers::MemoryNeeds needs;
  needs.rows = facts.input.rows, needs.element_bytes = is_complex_matrix ? 16 : 8;
  needs.matrix_bytes = facts.input.bytes;
  const bool narrow = is_narrow(settings, plan);
  if (settings.eigen.precision == solvers::Precision::float32 && narrow) needs.element_bytes /= 2;
  if (narrow) needs.matrix_bytes += facts.input.bytes / 2;  // the numbers again, half as long
  needs.space = ctx.stream ? Space::device : Space::host, needs.device_bytes = available.device;
  const auto memory = solvers::plan_memory(plan, needs);
  if (settings.common.dry_run) return show_plan(settings, facts.input, plan, memory, available);
  const std::string what = "solving for " + grouped(plan.nev) + " eigenvalues of " + facts.input.where.text();
  expect_memory(what, uses_of(memory, false), available.host);
  if (ctx.stream) expect_memory(what + " on " + device_text(device), uses_of(memory, true), available.device);
  if (memory.spills)
    console.note("the basis does not fit on the device and stays in page-locked host memory");
  settings.eigen.spills = memory.spills;

  // Kernels are compiled or loaded while the file is read.
  std::future<void> kernels;
  if (ctx.stream && !memory.spills)
    kernels = std::async(std::launch::async, [&ctx, &plan, rows = facts.input.rows, is_complex_matrix,
                                              precision = settings.eigen.precision] {
      const auto prepare = is_complex_matrix ? &solvers::prepare_lanczos<std::complex<double>>
                                             : &solvers::prepare_lanczos<double>;
      prepare(ctx, rows, plan, precision);
    });
  std::optional<EndsOnSignal> reading(std::in_place);
  auto input = read_hermitian(settings.matrix, settings.read, Role::matrix);
  if (kernels.valid()) kernels.get();
  std::optional<Input> mass;
  if (!settings.mass.empty()) {
    mass = read_hermitian(settings.mass, settings.read, Role::companion);
    if (mass->description.rows != facts.input.rows)
      throw Error(Errc::bad_input, mass->description.where.text() + " has " +
                                       grouped(mass->description.rows) + " rows, but the matrix has " +
                                       grouped(facts.input.rows));
    if (is_complex_input(*mass) != is_complex_input(input))
      make_complex(is_complex_input(*mass) ? input : *mass);
  }
  reading.reset();
  if (!input.note.empty()) console.note(input.note);
  facts.note = input.note;
  facts.method = method_text(settings, plan), facts.method_reason = reason_of(settings, plan);
  if (mass) facts.method += ", for the pencil with the mass matrix " + mass->description.where.text();
  if (settings.profile) facts.profile = begin_profile(ctx);
  facts.device = device_text(device);
  facts.threads = ctx.thread_count();
  facts.block_size = plan.block_size, facts.max_basis = plan.max_basis;
  console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " +
               grouped(facts.input.cols) + ", " + grouped(facts.input.nonzeros) + " entries; " +
               facts.method + (facts.method_reason.empty() ? "" : ", since " + facts.method_reason));
  return std::visit(
      [&](auto& matrix) {
        using T = typename std::decay_t<decltype(std::get<0>(matrix))>::value_type;
        std::optional<CsrMatrix<T>> m;
        if (mass) m = as_sparse(std::get<AnyMatrix<T>>(std::move(mass->matrix)));
        return solve_and_report<T>(settings, plan, ctx, matrix, std::move(m), facts, kept, console);
      },
      input.matrix);
}

}  // namespace ts::app::tssolve
