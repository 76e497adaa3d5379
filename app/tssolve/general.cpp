#include "tallskinny/solvers/driver/general.hpp"
#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"

namespace ts::app::tssolve {

namespace {

constexpr auto task = solvers::DenseTask::general;

solvers::GeneralRequest request_of(const Settings& settings) {
  solvers::GeneralRequest request{settings.part};
  if (settings.sigma) request.sigma = {*settings.sigma, settings.sigma_imaginary};
  return request;
}

bool is_whole(const Run& run) { return solvers::is_whole(run.facts.input.rows, run.settings.eigen); }

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  if (d.rows != d.cols)
    throw Error(Errc::bad_input, d.where.text() + " is " + grouped(d.rows) + " x " + grouped(d.cols) +
                                     ": eigenvalues need a square matrix (--svd finds singular values of any)");
  run.plan.what = "solving for eigenvalues of " + d.where.text();
  const std::size_t element_bytes = is_complex_type(d) ? 16 : 8;
  const bool whole = is_whole(run);
  const bool here =
      whole && run.settings.eigen.method == solvers::Method::automatic && d.rows < solvers::whole_on_device_asked;
  solvers::RunWork work;
  if (whole) {
    work = solvers::work_of_decomposition(task, d.rows, d.cols, element_bytes);
  } else if (!run.settings.sigma) {
    const index_t block = std::max(run.settings.eigen.block_size, solvers::general_block);
    solvers::EigenPlan like;
    like.block_size = block, like.max_basis = 2 * run.settings.eigen.nev + 8 * block;
    work = solvers::work_of_search(like, d.rows, element_bytes, d.bytes);
  }
  solvers::MemoryNeeds needs{.rows = d.rows, .matrix_bytes = d.bytes};
  take_device(run, needs, here ? "so small a matrix is decomposed as a whole" : "", work,
              whole ? std::optional(task) : std::nullopt);
  run.plan.memory = solvers::plan_general_memory(run.settings.eigen, needs);
}

Loaded read(Run& run) {
  const io::Description& d = run.facts.input;
  run.facts.method = is_whole(run)        ? "dense, by " + decomposed_by(run, task)
                     : run.settings.sigma ? "block Krylov-Schur, shift-invert"
                                          : "block Krylov-Schur";
  if (is_whole(run)) run.console.note(d.where.text() + ": " + run.facts.method);
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
  if (run.settings.sigma && !is_whole(run)) {
    const Loaded loaded = read(run);
    factors = std::visit(
        [&run]<class T>(const AnyMatrix<T>& a) {
          return add_factors(run, solvers::estimate_factors<T>(run.ctx, a, std::nullopt, solvers::FactorKind::lu));
        },
        loaded.matrix.matrix);
  }
  show_plan(run, is_whole(run) ? "dense, by " + decomposed_by(run, task) : "block Krylov-Schur", factors);
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
