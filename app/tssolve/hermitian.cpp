#include <future>
#include <tuple>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/gemm/runtime/gpu/transfer.hpp"
#include "tallskinny/solvers/eigen/hermitian/narrow.hpp"
#include "tallskinny/solvers/eigen/hermitian/solve.hpp"
#include "tallskinny/solvers/eigen/result/pencil.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

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
    return settings.eigen.method == solvers::Method::automatic ? "spectrum slicing by shift-invert block Lanczos"
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

/// Memory there is, within --memory.
void find_memory(Run& run) {
  const auto within = [limit = run.settings.memory](std::uint64_t there_is) {
    return limit == 0 || (there_is != 0 && there_is < limit) ? there_is : limit;
  };
  run.plan.host_bytes = available_memory();
  if (run.ctx.stream)
    run.plan.device_bytes = within(cuda::free_memory(run.ctx.stream));
  else
    run.plan.host_bytes = within(run.plan.host_bytes);
}

void plan_run(Run& run) {
  const Settings& settings = run.settings;
  const io::Description& input = run.facts.input;
  index_t initial_columns = 0;
  if (!settings.initial.empty())
    initial_columns = io::describe(io::parse_location(settings.initial), settings.read.of_another_file()).cols;
  solvers::MemoryNeeds needs;
  needs.rows = input.rows, needs.element_bytes = is_complex_type(input) ? 16 : 8;
  needs.matrix_bytes = input.bytes;
  const auto& plan = run.plan.eigen =
      solvers::plan_eigen(input.rows, needs.element_bytes, settings.eigen, initial_columns);
  if (run.device.kind == Device::Kind::cuda && plan.method == solvers::Method::dense) {
    run.console.note("the matrix is solved densely, which is done on the processor");
    run.device = {};
  }
  if (run.device.kind == Device::Kind::cuda) run.ctx.stream = cuda::Stream(run.device.index);
  find_memory(run);
  const bool narrow = is_narrow(settings, plan);
  if (settings.eigen.precision == solvers::Precision::float32 && narrow) needs.element_bytes /= 2;
  if (narrow) needs.matrix_bytes += input.bytes / 2;  // the numbers again, half as long
  needs.space = run.ctx.stream ? Space::device : Space::host, needs.device_bytes = run.plan.device_bytes;
  run.plan.memory = solvers::plan_memory(plan, needs);
  run.plan.what = "solving for " + grouped(plan.nev) + " eigenvalues of " + input.where.text();
  if (settings.eigen.nev > input.rows && !settings.interval)
    run.warning =
        grouped(settings.eigen.nev) + " eigenvalues were asked for, but the matrix has only " + grouped(input.rows);
}

void show_json(const Run& run) {
  const auto& [settings, input, plan] = std::tie(run.settings, run.facts.input, run.plan.eigen);
  const auto on_device = run.plan.memory.uses_of(true);
  JsonObject json;
  json.add("matrix", input.where.text()).add("rows", input.rows).add("nonzeros", input.nonzeros);
  json.add("method", method_text(settings, plan))
      .add("method_reason", reason_of(settings, plan))
      .add("precision", name_of(settings.eigen.precision))
      .add("nev", plan.nev)
      .add("block_size", plan.block_size);
  json.add("max_basis", plan.max_basis).add("max_iterations", plan.max_iterations);
  add_memory(json, run.plan.memory.uses_of(false), run.plan.host_bytes);
  if (!on_device.empty()) {
    JsonObject device;
    add_memory(device, on_device, run.plan.device_bytes);
    json.add("device_memory", device).add("basis_on_device", !run.plan.memory.spills);
  }
  std::cout << json.text() << '\n';
}

void show(const Run& run) {
  if (run.settings.common.json) return show_json(run);
  const auto& [settings, input, plan] = std::tie(run.settings, run.facts.input, run.plan.eigen);
  const auto in_host = run.plan.memory.uses_of(false), on_device = run.plan.memory.uses_of(true);
  const std::string method = method_text(settings, plan), reason = reason_of(settings, plan);
  std::cout << input.where.text() << ": " << grouped(input.rows) << " x " << grouped(input.cols) << ", "
            << grouped(input.nonzeros) << " entries, " << input.convention << '\n'
            << "method: " << method << (reason.empty() ? "" : ", since " + reason) << '\n';
  if (plan.method != solvers::Method::dense)
    std::cout << "block size " << plan.block_size << ", basis of " << plan.max_basis << " vectors, at most "
              << grouped(plan.max_iterations) << " block steps\n";
  std::cout << (on_device.empty() ? "memory:\n" : "host memory:\n");
  print_memory(std::cout, in_host, run.plan.host_bytes);
  if (!on_device.empty()) {
    std::cout << "device memory:\n";
    print_memory(std::cout, on_device, run.plan.device_bytes);
  }
  if (run.plan.memory.spills)
    std::cout << "the basis does not fit on the device: it passes through it for every product\n";
  if (plan.method == solvers::Method::lanczos && target_of(settings))
    std::cout << "and the factors of A - sigma I, whose size is known only once they are ordered\n";
}

/// The mass matrix; it or the matrix becomes complex where the other is.
std::optional<Input> read_mass(const Settings& settings, Input& matrix) {
  if (settings.mass.empty()) return std::nullopt;
  Input mass =
      read_hermitian(io::describe(io::parse_location(settings.mass), settings.read), settings.read, Role::companion);
  const index_t rows = matrix.description.rows;
  if (mass.description.rows != rows)
    throw Error(Errc::bad_input, mass.description.where.text() + " has " + grouped(mass.description.rows) +
                                     " rows, but the matrix has " + grouped(rows));
  if (is_complex_input(mass) != is_complex_input(matrix)) make_complex(is_complex_input(mass) ? matrix : mass);
  return mass;
}

Loaded read(Run& run) {
  const Settings& settings = run.settings;
  RunFacts& facts = run.facts;
  const auto& plan = run.plan.eigen;
  run.settings.eigen.spills = run.plan.memory.spills;
  if (run.plan.memory.spills)
    run.console.note("the basis does not fit on the device and stays in page-locked host memory");
  // Kernels are compiled or loaded while the file is read.
  std::future<void> kernels;
  if (run.ctx.stream && !run.plan.memory.spills)
    kernels = std::async(std::launch::async, [&run, &plan] {
      const auto prepare = is_complex_type(run.facts.input) ? &solvers::prepare_lanczos<std::complex<double>>
                                                            : &solvers::prepare_lanczos<double>;
      prepare(run.ctx, run.facts.input.rows, plan, run.settings.eigen.precision);
    });
  const EndsOnSignal reading;
  Loaded loaded{read_hermitian(facts.input, settings.read, Role::matrix), {}};
  if (kernels.valid()) kernels.get();
  loaded.other = read_mass(settings, loaded.matrix);
  facts.note = loaded.matrix.note;
  if (!facts.note.empty()) run.console.note(facts.note);
  facts.method = method_text(settings, plan), facts.method_reason = reason_of(settings, plan);
  if (loaded.other) facts.method += ", for the pencil with the mass matrix " + loaded.other->description.where.text();
  facts.block_size = plan.block_size, facts.max_basis = plan.max_basis;
  run.console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " + grouped(facts.input.cols) +
                   ", " + grouped(facts.input.nonzeros) + " entries; " + facts.method +
                   (facts.method_reason.empty() ? "" : ", since " + facts.method_reason));
  return loaded;
}

template <class T>
solvers::EigenResult<T> solve_interval_of(const Settings& settings, const Context& ctx,
                                          const solvers::EigenProblem<T>& problem, const solvers::EigenOptions& options,
                                          int exponent, const io::Description& input) {
  const solvers::Interval scaled{std::ldexp(settings.interval->low, -exponent),
                                 std::ldexp(settings.interval->high, -exponent)};
  return solvers::solve_interval<T>(ctx, problem, options, scaled, [&](index_t count) {
    const auto bytes = static_cast<std::uint64_t>(input.rows) * static_cast<std::uint64_t>(count) * sizeof(T);
    solvers::expect_memory("keeping the " + grouped(count) + " eigenvectors of the interval",
                           {{"eigenvectors", 4 * bytes}}, available_memory());
  });
}

template <class T>
std::uint64_t fingerprint_of(const AnyMatrix<T>& matrix, const std::optional<CsrMatrix<T>>& mass, int threads) {
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
  auto op = solvers::operator_of<T>(*matrix);
  return mass_factor ? mass_factor->standard_inverse(std::move(op)) : op;
}

/// What --preconditioner names by a word; `auto` is the diagonal for SA.
std::optional<solvers::Preconditioner> named_preconditioner(const Settings& settings) {
  const auto& name = settings.preconditioner;
  if (name == "jacobi" || (name == "auto" && settings.eigen.which == solvers::Which::SA))
    return solvers::Preconditioner::jacobi;
  if (name == "ichol") return solvers::Preconditioner::incomplete_cholesky;
  if (name == "chebyshev") return solvers::Preconditioner::chebyshev;
  return std::nullopt;
}

const char* text_of(solvers::Preconditioner kind) {
  switch (kind) {
    case solvers::Preconditioner::jacobi: return "the diagonal";
    case solvers::Preconditioner::incomplete_cholesky: return "an incomplete Cholesky factorisation";
    case solvers::Preconditioner::chebyshev: return "a Chebyshev polynomial";
  }
  return "?";
}

/// solvers::Assembled as asked for; where no shift near the target can be factorised and the matrix is small, for the
/// dense solver.
template <class T>
solvers::Assembled<T> assemble_or_whole(const AnyMatrix<T>& matrix, const std::optional<CsrMatrix<T>>& mass,
                                        std::optional<double> target, solvers::Factorise factorise,
                                        solvers::EigenOptions& options) {
  try {
    return solvers::assemble<T>(matrix, mass, target, factorise);
  } catch (const Error&) {
    if (factorise != solvers::Factorise::needed || solvers::operator_of<T>(matrix).rows() > solvers::takeover_rows)
      throw;
    options.method = solvers::Method::dense;
    return solvers::assemble<T>(matrix, mass, target, solvers::Factorise::nothing);
  }
}

template <class T>
class Hermitian {
 public:
  static constexpr bool ends_when_dense = true;  // a dense solve cannot be stopped half-way
  static std::string progress_text(const solvers::Progress& p) {
    if (p.phase != "verify") return pairs_text(p);
    return "searching for missing copies, " + grouped(p.operator_applications) + " operator applications";
  }

  Hermitian(Run& run, AnyMatrix<T>& matrix, std::optional<CsrMatrix<T>> mass)
      : run_(run), matrix_(matrix), mass_(std::move(mass)), narrow_(is_narrow(run.settings, run.plan.eigen)) {
    run.facts.type = is_complex<T> ? "complex128" : "float64";
  }

  int scale() {
    exponent_ = solvers::extreme_exponent(matrix_, narrow_);
    if (exponent_ != 0) solvers::scale(matrix_, -exponent_);
    if (!mass_) return exponent_;
    AnyMatrix<T> scaled(std::move(*mass_));
    const int of_mass = solvers::extreme_exponent(scaled);
    if (of_mass != 0) solvers::scale(scaled, -of_mass);
    mass_ = std::move(std::get<CsrMatrix<T>>(scaled));
    return exponent_ -= of_mass;
  }

  void prepare(solvers::EigenOptions& options) {
    beginning_.emplace(run_);
    assemble(options);
    precondition();
    auto& problem = assembled_->problem;
    if (run_.ctx.stream) {
      there_ = solvers::copy_to<T>(run_.ctx.stream, matrix_);
      problem.a = solvers::operator_of<T>(matrix_, there_);
      problem.invert = nullptr;  // factors are applied on the processor
    }
    if (narrow_) {
      rounded_ = solvers::rounded<T>(run_.ctx, matrix_, there_);
      problem.narrow = solvers::operator_of<T>(matrix_, there_, rounded_);
    }
    options.vectors = !run_.settings.common.output.empty() || mass_ || run_.settings.interval;
    beginning_->take_up(run_, [&] { return fingerprint_of(matrix_, mass_, run_.ctx.thread_count()); });
  }

  solvers::EigenResult<T> solve(const solvers::EigenOptions& options) {
    const auto& problem = assembled_->problem;
    if (run_.settings.interval)
      return solve_interval_of<T>(run_.settings, run_.ctx, problem, options, exponent_, run_.facts.input);
    return solvers::solve_eigen<T>(run_.ctx, problem, options, beginning_->initial.cview(),
                                   beginning_->checkpoint->hooks());
  }

  solvers::EigenResult<T>& complete(const solvers::EigenOptions& options, solvers::EigenResult<T>& result) {
    if (mass_)
      run_.facts.backward_errors = solvers::to_pencil<T>(run_.ctx, solvers::operator_of<T>(matrix_), mass_->view(),
                                                         *assembled_->factor, options, result)
                                       .backward_errors;
    return result;
  }

  /// By which method the result was found.
  void describe(const solvers::EigenOptions& options, const solvers::EigenResult<T>& result) {
    RunFacts& facts = run_.facts;
    if (result.taken_over || (options.method == solvers::Method::dense && run_.plan.eigen.method != options.method))
      facts.method = "dense, in place of " + facts.method;
    if (result.shift && !target_)
      took(" through shift-invert beyond the end of the spectrum at " + short_number(*result.shift),
           "that end converges slowly and a factorisation is cheap");
    if (result.filter_degree > 0)
      took(" on a Chebyshev polynomial of degree " + std::to_string(result.filter_degree),
           "that end converges slowly and products cost less than steps of orthogonalisation");
    const auto precision = run_.settings.eigen.precision;
    if (result.narrow_applications > 0)
      facts.method += precision == solvers::Precision::float32 ? ", in float32" : ", in float32 and then float64";
    else if (precision != solvers::Precision::float64)
      facts.note += (facts.note.empty() ? "" : "; ") + in_float64_anyway;
  }

  std::string write(const solvers::EigenResult<T>& result) { return write_file(result, run_.settings, run_.facts); }

 private:
  void assemble(solvers::EigenOptions& options) {
    const Settings& settings = run_.settings;
    target_ = target_of(settings);
    if (target_) target_ = std::ldexp(*target_, -exponent_);
    solvers::Factorise factorise = solvers::Factorise::cheap;
    if (run_.plan.eigen.method == solvers::Method::dense)
      factorise = solvers::Factorise::nothing;
    else if (target_ || (settings.interval && settings.eigen.method == solvers::Method::automatic))
      factorise = solvers::Factorise::needed;
    if (mass_) run_.console.note("factorising the mass matrix");
    if (factorise == solvers::Factorise::needed) run_.console.note("factorising A - sigma I");
    assembled_ = assemble_or_whole<T>(matrix_, mass_, target_, factorise, options);
    const std::string& note = assembled_->note;
    if (!note.empty()) run_.console.warn(note);
    run_.facts.note += (run_.facts.note.empty() || note.empty() ? "" : "; ") + note;
  }

  void precondition() {
    const Settings& settings = run_.settings;
    if (!solvers::is_preconditioned(run_.plan.eigen.method)) return;
    auto& preconditioner = assembled_->problem.preconditioner;
    if (const auto kind = named_preconditioner(settings)) {
      preconditioner = solvers::preconditioner_of<T>(run_.ctx, matrix_, *assembled_, *kind, settings.eigen.which);
      run_.facts.method += std::string(", preconditioned by ") + text_of(*kind);
    } else if (settings.preconditioner != "none" && settings.preconditioner != "auto") {
      const auto described = io::describe(io::parse_location(settings.preconditioner), settings.read);
      given_ = read_hermitian(described, settings.read, Role::companion);
      if (is_complex<T>) make_complex(*given_);
      preconditioner = given_preconditioner<T>(*given_, run_.facts.input.rows, assembled_->factor);
      run_.facts.method += ", preconditioned by " + settings.preconditioner;
    }
  }

  void took(const std::string& what, const char* why) {
    RunFacts& facts = run_.facts;
    facts.method += what;
    if (run_.settings.eigen.method != solvers::Method::automatic) return;
    facts.method_reason += std::string(facts.method_reason.empty() ? "" : "; ") + why;
    run_.console.note("took " + facts.method + ", since " + why);
  }

  Run& run_;
  AnyMatrix<T>& matrix_;
  std::optional<CsrMatrix<T>> mass_;
  bool narrow_;
  int exponent_ = 0;
  std::optional<double> target_;
  std::optional<Beginning<T>> beginning_;
  std::optional<solvers::Assembled<T>> assembled_;
  std::optional<Input> given_;
  solvers::DeviceCopy<T> there_;
  solvers::Rounded<T> rounded_;
};

int solve(Run& run, Loaded& loaded) {
  return std::visit(
      [&](auto& matrix) {
        using T = typename std::decay_t<decltype(std::get<0>(matrix))>::value_type;
        std::optional<CsrMatrix<T>> mass;
        if (loaded.other) mass = as_sparse(std::get<AnyMatrix<T>>(std::move(loaded.other->matrix)));
        return solve_and_report(run, Hermitian<T>(run, matrix, std::move(mass)));
      },
      loaded.matrix.matrix);
}

}  // namespace

const Kind hermitian{false, plan_run, show, read, solve};

}  // namespace ts::app::tssolve
