#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/tssolve/hermitian_plan.hpp"
#include "tallskinny/app/tssolve/reordering.hpp"
#include "tallskinny/app/tssolve/report.hpp"
#include "tallskinny/solvers/ranks/moved_rows.hpp"

namespace ts::app::tssolve {

namespace {

const std::string in_float64_anyway =
    "the matrix was solved densely or through a cheap factorisation, which is done in float64";

/// Refuses more eigenvectors of an interval than fit into memory.
template <class T>
std::function<void(index_t)> expects_memory_of(index_t rows) {
  return [rows](index_t count) {
    const auto bytes = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(count) * sizeof(T);
    solvers::expect_memory("keeping the " + grouped(count) + " eigenvectors of the interval",
                           {{"eigenvectors", 4 * bytes}}, available_memory());
  };
}

/// A given matrix near A^-1, its rows put in this order unless that is empty; it must outlive the operator.
template <class T>
solvers::Operator<T> given_preconditioner(Input& input, index_t rows, std::span<const index_t> order) {
  auto* matrix = std::get_if<AnyMatrix<T>>(&input.matrix);
  if (matrix == nullptr || input.description.rows != rows)
    throw Error(Errc::bad_input, "the preconditioner " + input.description.where.text() +
                                     " has another size than the matrix, or is complex for a real one");
  if (!order.empty()) {
    auto* const sparse = std::get_if<CsrMatrix<T>>(matrix);
    expects(sparse != nullptr, "--reorder takes a sparse --preconditioner");
    *sparse = solvers::reordered<T>(*sparse, order);
  }
  return solvers::operator_of<T>(*matrix);
}

/// The preconditioner that a word of --preconditioner names; `auto` is the diagonal for SA.
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

template <class T>
class Hermitian {
 public:
  static constexpr bool ends_when_dense = true;  // a dense solve cannot be stopped half-way
  static constexpr const char* found = " pairs";

  Hermitian(Run& run, AnyMatrix<T>& matrix, std::optional<Input>& mass) : run_(run), matrix_(std::move(matrix)) {
    if (mass) mass_.emplace(AnyMatrix<T>(as_sparse(std::get<AnyMatrix<T>>(std::move(mass->matrix)))));
    run.facts.type = is_complex<T> ? "complex128" : "float64";
  }

  void prepare(solvers::EigenOptions& options) {
    if (run_.settings.reorder != solvers::Reordering::none) take_order();
    beginning_.emplace(run_);
    if (!order_.empty()) beginning_->initial = moved(beginning_->initial, solvers::inverse_of(order_));
    options.vectors = writes_vectors(run_.settings);
    factorise(options);
    if (solvers::is_preconditioned(run_.plan.eigen.method)) precondition();
    beginning_->take_up(run_, [this] {
      const auto of_matrix = fingerprint<T>(run_.ctx, matrix_.view());
      return mass_ ? of_matrix + 31 * fingerprint<T>(run_.ctx, mass_->view()) : of_matrix;
    });
  }

  solvers::HermitianResult<T> solve() {
    return driver_->solve(beginning_->initial.cview(), beginning_->checkpoint->hooks(),
                          expects_memory_of<T>(run_.rows_here()));
  }

  solvers::EigenResult<T>& complete(solvers::HermitianResult<T>& result) {
    RunFacts& facts = run_.facts;
    if (mass_) facts.backward_errors = std::move(result.backward_errors);
    facts.infinite = result.infinite;
    facts.note += (facts.note.empty() || result.note.empty() ? "" : "; ") + result.note;
    if (!order_.empty()) result.vectors = moved(result.vectors, order_);
    describe(result);
    return result;
  }

  std::vector<std::string> write(const solvers::EigenResult<T>& result) {
    return write_files(result, run_.settings, run_.facts, {}, run_.ctx);
  }

 private:
  /// By which method the result was found.
  void describe(const solvers::EigenResult<T>& result) {
    RunFacts& facts = run_.facts;
    const solvers::Method method = driver_->method();
    const bool in_place = result.taken_over || (method == solvers::Method::dense && run_.plan.eigen.method != method);
    if (!result.decomposed_by.empty())
      facts.method = "dense, by " + result.decomposed_by + (in_place ? ", in place of " + facts.method : "");
    if (result.shift && !target_of(request_of(run_.settings, facts.input)))
      took(" through shift-invert beyond " + (result.high_shift
                                                  ? "both ends of the spectrum at " + short_number(*result.shift) +
                                                        " and " + short_number(*result.high_shift)
                                                  : "the end of the spectrum at " + short_number(*result.shift)),
           result.high_shift ? "the ends converge slowly and factorisations are cheap"
                             : "that end converges slowly and a factorisation is cheap");
    if (result.filter_degree > 0)
      took(" on a Chebyshev polynomial of degree " + std::to_string(result.filter_degree),
           "that end converges slowly and products cost less than steps of orthogonalisation");
    const auto precision = run_.settings.eigen.precision;
    if (result.narrow_applications > 0)
      facts.method += precision == solvers::Precision::float32 ? ", in float32" : ", in float32 and then float64";
    else if (precision != solvers::Precision::float64)
      facts.note += (facts.note.empty() ? "" : "; ") + in_float64_anyway;
  }

  void take_order() {
    matrix_.change([this](AnyMatrix<T>& own) {
      auto [order, text] = reorder(run_, own);
      run_.console.note((order.empty() ? "not reordered by " : "reordered by ") + text);
      run_.facts.reordering = std::move(text), order_ = std::move(order);
    });
    if (mass_ && !order_.empty())
      mass_->change([this](AnyMatrix<T>& own) { own = solvers::reordered<T>(std::get<CsrMatrix<T>>(own), order_); });
  }
  /// Row i becomes row place[i].
  Matrix<T> moved(const Matrix<T>& block, std::span<const index_t> place) const {
    return block.cols() == 0 ? Matrix<T>(block.rows(), 0) : solvers::moved_rows<T>(run_.ctx, block.cview(), place);
  }

  /// Prepares the search: operands on the device, and factorisations.
  void factorise(const solvers::EigenOptions& options) {
    solvers::HermitianSearch search = run_.plan.search;
    // Several ranks would factorise other matrices than one rank does, but bits must be the same.
    const bool as_ranks = run_.ctx.determinism == Determinism::gpu_to_gpu && run_.who.together;
    if (search.factorise == solvers::Factorise::cheap && as_ranks) search.factorise = solvers::Factorise::nothing;
    if (mass_) run_.console.note("factorising the mass matrix");
    const auto before = [this](const solvers::FactorEstimate& factors) {
      const std::string what = mass_ ? "A - sigma M" : "A - sigma I";
      run_.console.note("factorising " + what + " " + add_factors(run_, factors, what));
      solvers::expect_memory("factorising " + what + " beside what else the run needs", run_.plan.memory.uses_of(false),
                             run_.plan.host_bytes);
    };
    driver_.emplace(run_.ctx,
                    solvers::HermitianInput<T>{.a = matrix_,
                                               .mass = mass_ ? &*mass_ : nullptr,
                                               .rows = run_.facts.input.rows,
                                               .name = run_.facts.input.where.text(),
                                               .request = request_of(run_.settings, run_.facts.input),
                                               .search = search,
                                               .dropped = run_.facts.dropped,
                                               .before_factors = before,
                                               .factors_by = run_.factors_by},
                    options);
    if (!driver_->note().empty()) run_.console.warn(driver_->note());
  }

  void precondition() {
    const Settings& settings = run_.settings;
    if (const auto kind = named_preconditioner(settings)) {
      driver_->precondition(*kind, settings.eigen.which);
      run_.facts.method += std::string(", preconditioned by ") + text_of(*kind);
    } else if (settings.preconditioner != "none" && settings.preconditioner != "auto") {
      const auto described = io::describe(io::parse_location(settings.preconditioner), settings.read);
      given_ = read_hermitian(run_.ctx, described, settings.read, Role::companion, settings.symmetrise);
      if (is_complex<T>) make_complex(*given_);
      driver_->precondition(given_preconditioner<T>(*given_, run_.facts.input.rows, order_));
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
  solvers::Borrowed<T> matrix_;
  std::optional<solvers::Borrowed<T>> mass_;
  std::vector<index_t> order_;  ///< of rows, where it is not the file's
  std::optional<Beginning<T>> beginning_;
  std::optional<Input> given_;
  std::optional<solvers::HermitianRun<T>> driver_;
};

int solve(Run& run, Loaded& loaded) {
  return std::visit(
      [&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, Hermitian<T>(run, matrix, loaded.other)); },
      loaded.matrix.matrix);
}

}  // namespace

const Kind hermitian{plan_hermitian, show_hermitian, read_planned, solve};

}  // namespace ts::app::tssolve
