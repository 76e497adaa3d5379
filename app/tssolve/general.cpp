#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/solvers/eigen/general/whole.hpp"
#include "tallskinny/solvers/eigen/transform/shift_invert.hpp"
#include "tallskinny/solvers/setup/assemble.hpp"

namespace ts::app::tssolve {

namespace {

using Complex = std::complex<double>;

template <class T>
T scalar(Complex z) {
  if constexpr (is_complex<T>)
    return z;
  else
    return z.real();
}

template <class T>
solvers::GeneralInverse<T> inverse_of(const AnyMatrix<T>& matrix, T sigma, const cuda::Stream& gpu) {
  if (const auto* sparse = std::get_if<CsrMatrix<T>>(&matrix))
    return solvers::GeneralInverse<T>(sparse->view(), sigma, gpu);
  return solvers::GeneralInverse<T>(std::get<Matrix<T>>(matrix).cview(), sigma);
}

/// The eigenvalues nearest to a target, if there is one; `note` becomes what there is to say of the shift.
/// @param there the matrix on the device of `gpu`, if that is where blocks are.
template <class T>
solvers::GeneralProblem<T> problem_of(const AnyMatrix<T>& matrix, const solvers::DeviceCopy<T>& there,
                                      std::optional<T> target, const cuda::Stream& gpu, std::string& note) {
  solvers::GeneralProblem<T> problem{solvers::operator_of<T>(matrix, there)};
  if (!target) return problem;
  const auto inverse = inverse_of<T>(matrix, *target, gpu);
  problem.target = target, problem.inverse = solvers::at_home<T>(solvers::home_of<T>(there), inverse);
  problem.shift = inverse.sigma();
  note = inverse.note();
  return problem;
}

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  if (d.rows != d.cols)
    throw Error(Errc::bad_input, d.where.text() + " is " + grouped(d.rows) + " x " + grouped(d.cols) +
                                     ": eigenvalues need a square matrix (--svd finds singular values of any)");
  run.plan.what = "solving for eigenvalues of " + d.where.text();
  const bool whole = run.settings.eigen.method == solvers::Method::dense || d.rows <= solvers::whole_rows;
  solvers::RunWork work;
  if (!run.settings.sigma) {
    const index_t block = std::max<index_t>(run.settings.eigen.block_size, 4);
    solvers::EigenPlan like;
    like.block_size = block, like.max_basis = 2 * run.settings.eigen.nev + 8 * block;
    work = solvers::work_of_search(like, d.rows, is_complex_type(d) ? 16 : 8, d.bytes);
  }
  take_device(run, whole ? "the matrix is solved by its Schur form" : "", work);
  run.plan.memory = solvers::plan_general_memory(
      run.settings.eigen,
      {.rows = d.rows, .matrix_bytes = d.bytes, .space = run.ctx.stream ? Space::device : Space::host});
}

Loaded read(Run& run) {
  const EndsOnSignal reading;
  const io::Description& d = run.facts.input;
  run.facts.method = run.settings.sigma ? "block Krylov-Schur, shift-invert" : "block Krylov-Schur";
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
  if (run.settings.sigma && run.settings.eigen.method != solvers::Method::dense) {
    const Loaded loaded = read(run);
    factors = std::visit(
        [&run]<class T>(const AnyMatrix<T>& a) {
          return add_factors(run, solvers::estimate_factors<T>(a, std::nullopt, solvers::FactorKind::lu));
        },
        loaded.matrix.matrix);
  }
  const io::Description& d = run.facts.input;
  const bool whole = run.settings.eigen.method == solvers::Method::dense;
  std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols)
            << (whole ? ", Schur form" : ", block Krylov-Schur") << "\nmemory:\n";
  print_memory(std::cout, run.plan.memory.uses_of(false), run.plan.host_bytes);
  show_device_memory(run);
  if (!factors.empty()) std::cout << "factors " << factors << '\n';
}

template <class T>
class General {
 public:
  static constexpr bool ends_when_dense = true;  // a dense solve cannot be stopped half-way
  static std::string progress_text(const solvers::Progress& p) { return pairs_text(p); }

  /// @param real the same matrix, where it is real and the target is not; otherwise null.
  General(Run& run, AnyMatrix<T>& matrix, AnyMatrix<double>* real) : run_(run), matrix_(matrix), real_(real) {}

  int scale() {
    exponent_ = solvers::take_exponent(matrix_);
    if (exponent_ != 0 && real_ != nullptr) solvers::scale(*real_, -exponent_);
    return exponent_;
  }

  void prepare(const solvers::EigenOptions&) {
    beginning_.emplace(run_);
    std::optional<T> target;
    if (run_.settings.sigma) {
      target = scalar<T>(scaled_target());
      run_.console.note("factorising A - sigma I");
    }
    there_ = copied(matrix_);
    problem_ = problem_of<T>(matrix_, there_, target, run_.ctx.stream, run_.facts.note);
    if (!run_.facts.note.empty()) run_.console.warn(run_.facts.note);
    problem_->adjoint = [this, target] {
      run_.console.note("asking the adjoint matrix");
      adjoint_ = solvers::adjoint_of(matrix_);
      std::optional<T> conjugate;
      if (target) conjugate = scalar<T>(std::conj(Complex(*target)));
      adjoint_there_ = copied(adjoint_);
      std::string note;
      return problem_of<T>(adjoint_, adjoint_there_, conjugate, run_.ctx.stream, note);
    };
    beginning_->take_up(run_, [&] { return fingerprint<T>(matrix_, run_.ctx.thread_count()); });
  }

  solvers::GeneralResult solve(const solvers::EigenOptions& options) {
    return solvers::solve_general<T>(run_.ctx, *problem_, {run_.settings.part, options}, beginning_->initial.cview(),
                                     beginning_->checkpoint->hooks());
  }

  solvers::GeneralResult& complete(const solvers::EigenOptions& options, solvers::GeneralResult& result) {
    std::string& method = run_.facts.method;
    if (result.verification == solvers::Verification::all_computed)
      method = "dense, by the Schur form" + (result.iterations == 0 ? std::string() : ", in place of " + method);
    if (real_ != nullptr)
      result = solvers::with_conjugates(run_.ctx, solvers::operator_of<double>(*real_), std::move(result),
                                        scaled_target(), {run_.settings.part, options});
    return result;
  }

  std::string write(const solvers::GeneralResult& result) { return write_file(result, run_.settings, run_.facts); }

 private:
  [[nodiscard]] solvers::DeviceCopy<T> copied(const AnyMatrix<T>& matrix) const {
    return run_.ctx.stream ? solvers::copy_to<T>(run_.ctx.stream, matrix) : solvers::DeviceCopy<T>();
  }
  [[nodiscard]] Complex scaled_target() const {
    return solvers::scaled(Complex(*run_.settings.sigma, run_.settings.sigma_imaginary), -exponent_);
  }

  Run& run_;
  AnyMatrix<T>& matrix_;
  AnyMatrix<double>* real_;
  int exponent_ = 0;
  std::optional<Beginning<T>> beginning_;
  std::optional<solvers::GeneralProblem<T>> problem_;
  AnyMatrix<T> adjoint_;
  solvers::DeviceCopy<T> there_, adjoint_there_;
};

int solve(Run& run, Loaded& loaded) {
  auto* real = loaded.other ? &std::get<AnyMatrix<double>>(loaded.other->matrix) : nullptr;
  return std::visit([&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, General<T>(run, matrix, real)); },
                    loaded.matrix.matrix);
}

}  // namespace

const Kind general{plan_run, show, read, solve};

}  // namespace ts::app::tssolve
