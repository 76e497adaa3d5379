#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/setup/general_problem.hpp"

namespace ts::app::tssolve {

namespace {

using Complex = std::complex<double>;

constexpr auto task = solvers::DenseTask::general;

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
  take_device(run, here ? "so small a matrix is decomposed as a whole" : "", work,
              whole ? std::optional(task) : std::nullopt);
  solvers::MemoryNeeds needs{.rows = d.rows, .matrix_bytes = d.bytes};
  needs.space = run.ctx.stream ? Space::device : Space::host;
  if (whole) needs.whole = bytes_of_decomposition(run, task);
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
  // The two of a conjugate pair are at different distances from a complex target: it is sought in complex
  // arithmetic, and the real matrix then says what belongs together.
  if (run.settings.sigma_imaginary != 0 && !is_complex_input(loaded.matrix)) {
    loaded.other = read_any(d, run.settings.read);
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
  const io::Description& d = run.facts.input;
  std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols)
            << (is_whole(run) ? ", dense, by " + decomposed_by(run, task) : ", block Krylov-Schur") << "\nmemory:\n";
  print_memory(std::cout, run.plan.memory.uses_of(false), run.plan.host_bytes);
  show_device_memory(run);
  if (!factors.empty()) std::cout << "factors " << factors << '\n';
}

template <class T>
class General {
 public:
  static constexpr bool ends_when_dense = true;  // a dense solve cannot be stopped half-way
  static constexpr const char* found = " pairs";

  /// @param real the same matrix, where it is real and the target is not; otherwise null.
  General(Run& run, AnyMatrix<T>& matrix, AnyMatrix<double>* real) : run_(run), matrix_(matrix), real_(real) {}

  int scale() {
    exponent_ = solvers::take_exponent(run_.ctx, matrix_);
    if (exponent_ != 0 && real_ != nullptr) solvers::scale(*real_, -exponent_);
    return exponent_;
  }

  void prepare(const solvers::EigenOptions& options) {
    beginning_.emplace(run_);
    std::optional<T> target;
    if (run_.settings.sigma) target = solvers::as_scalar<T>(scaled_target());
    general_ = solvers::assemble_general<T>(run_.ctx, matrix_, target, options,
                                            [this](const char* line) { run_.console.note(line); });
    if (target) run_.facts.note = general_->note;
    if (!run_.facts.note.empty()) run_.console.warn(run_.facts.note);
    beginning_->take_up(run_, [&] { return fingerprint<T>(run_.ctx, matrix_); });
  }

  solvers::GeneralResult solve(const solvers::EigenOptions& options) {
    return solvers::solve_general<T>(run_.ctx, general_->problem, {run_.settings.part, options},
                                     beginning_->initial.cview(), beginning_->checkpoint->hooks());
  }

  solvers::GeneralResult& complete(const solvers::EigenOptions& options, solvers::GeneralResult& result) {
    std::string& method = run_.facts.method;
    if (result.similar) method = "block Lanczos on D^-1 A D, which is Hermitian for a diagonal D";
    if (result.verification == solvers::Verification::all_computed)
      method = "dense, by " + result.decomposed_by + (result.iterations == 0 ? "" : ", in place of " + method);
    if (real_ != nullptr)
      result = solvers::with_conjugates(run_.ctx, solvers::operator_of<double>(*real_), std::move(result),
                                        scaled_target(), {run_.settings.part, options});
    return result;
  }

  std::vector<std::string> write(const solvers::GeneralResult& result) {
    return write_files(result, run_.settings, run_.facts);
  }

 private:
  [[nodiscard]] Complex scaled_target() const {
    return solvers::scaled(Complex(*run_.settings.sigma, run_.settings.sigma_imaginary), -exponent_);
  }

  Run& run_;
  AnyMatrix<T>& matrix_;
  AnyMatrix<double>* real_;
  int exponent_ = 0;
  std::optional<Beginning<T>> beginning_;
  std::optional<solvers::GeneralAssembled<T>> general_;
};

int solve(Run& run, Loaded& loaded) {
  auto* real = loaded.other ? &std::get<AnyMatrix<double>>(loaded.other->matrix) : nullptr;
  return std::visit([&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, General<T>(run, matrix, real)); },
                    loaded.matrix.matrix);
}

}  // namespace

const Kind general{plan_run, show, read, solve};

}  // namespace ts::app::tssolve
