#include "tallskinny/solvers/driver/general.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"

namespace ts::app::tssolve {

namespace {

solvers::GeneralRequest request_of(const Settings& settings) {
  solvers::GeneralRequest request{settings.part};
  if (settings.sigma) request.sigma = {*settings.sigma, settings.sigma_imaginary};
  return request;
}

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  if (d.rows != d.cols)
    throw Error(Errc::bad_input, d.where.text() + " is " + grouped(d.rows) + " x " + grouped(d.cols) +
                                     ": eigenvalues need a square matrix (--svd finds singular values of any)");
  run.plan.what = "solving for eigenvalues of " + d.where.text();
  static_cast<solvers::SearchPlan&>(run.plan) =
      solvers::plan_general(facts_of(d), request_of(run.settings), run.settings.eigen);
  solvers::MemoryNeeds needs{.rows = d.rows, .matrix_bytes = d.bytes};
  take_device(run, needs);
  run.plan.memory = solvers::plan_general_memory(run.settings.eigen, needs);
}

Loaded read(Run& run) {
  const io::Description& d = run.facts.input;
  run.facts.method = run.plan.whole       ? "dense, by " + decomposed_by(run)
                     : run.settings.sigma ? "block Krylov-Schur, shift-invert"
                                          : "block Krylov-Schur";
  if (run.plan.whole) run.console.note(d.where.text() + ": " + run.facts.method);
  Loaded loaded{read_any(d, run.settings.read), {}};
  run.facts.type = is_complex_input(loaded.matrix) ? "complex128" : "float64";
  if (run.settings.sigma_imaginary != 0 && !is_complex_input(loaded.matrix)) {
    loaded.other.emplace().matrix = solvers::owned<double>(std::get<AnyMatrix<double>>(loaded.matrix.matrix));
    make_complex(loaded.matrix);
  }
  return loaded;
}

void show(Run& run) {
  std::string factors;
  if (run.settings.sigma && !run.plan.whole) {
    const Loaded loaded = read(run);
    factors = std::visit(
        [&run]<class T>(const AnyMatrix<T>& a) {
          return add_factors(run, solvers::estimate_factors<T>(run.ctx, a, std::nullopt, solvers::FactorKind::lu));
        },
        loaded.matrix.matrix);
  }
  show_plan(run, run.plan.whole ? "dense, by " + decomposed_by(run) : "block Krylov-Schur", factors);
}

template <class T>
class General {
 public:
  static constexpr bool ends_when_dense = true;  // a dense solve cannot be stopped half-way
  static constexpr const char* found = " pairs";

  /// @param real the same matrix, where it is real and the target is not
  General(Run& run, AnyMatrix<T>& matrix, std::optional<Input>& real) : run_(run), matrix_(std::move(matrix)) {
    if (real) real_.emplace(std::get<AnyMatrix<double>>(std::move(real->matrix)));
  }

  void prepare(const solvers::EigenOptions& options) {
    beginning_.emplace(run_);
    driver_.emplace(
        run_.ctx,
        solvers::GeneralInput<T>{matrix_, real_ ? &*real_ : nullptr, run_.facts.input.where.text(),
                                 request_of(run_.settings), [this](const char* line) { run_.console.note(line); }},
        options);
    run_.facts.note = driver_->note();
    if (!run_.facts.note.empty()) run_.console.warn(run_.facts.note);
    beginning_->take_up(run_, [this] { return fingerprint<T>(run_.ctx, matrix_.view()); });
  }

  solvers::GeneralResult solve() {
    return driver_->solve(beginning_->initial.cview(), beginning_->checkpoint->hooks());
  }

  solvers::GeneralResult& complete(solvers::GeneralResult& result) {
    std::string& method = run_.facts.method;
    if (result.similar) method = "block Lanczos on D^-1 A D, which is Hermitian for a diagonal D";
    if (result.verification == solvers::Verification::all_computed)
      method = "dense, by " + result.decomposed_by + (result.iterations == 0 ? "" : ", in place of " + method);
    return result;
  }

  std::vector<std::string> write(const solvers::GeneralResult& result) {
    return write_files(result, run_.settings, run_.facts);
  }

 private:
  Run& run_;
  solvers::Borrowed<T> matrix_;
  std::optional<solvers::Borrowed<double>> real_;
  std::optional<Beginning<T>> beginning_;
  std::optional<solvers::GeneralRun<T>> driver_;
};

int solve(Run& run, Loaded& loaded) {
  return std::visit(
      [&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, General<T>(run, matrix, loaded.other)); },
      loaded.matrix.matrix);
}

}  // namespace

const Kind general{plan_run, show, read, solve};

}  // namespace ts::app::tssolve
