#include <algorithm>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/driver/svd.hpp"

namespace ts::app::tssolve {

namespace {

/// A dense matrix is widened to float64 or complex128 beside what was read.
std::uint64_t bytes_of(const io::Description& d) {
  const auto wide =
      static_cast<std::uint64_t>(d.rows) * static_cast<std::uint64_t>(d.cols) * (is_complex_type(d) ? 16 : 8);
  return d.sparse || d.bytes >= wide ? d.bytes : d.bytes + wide;
}

/// Blocks in memory at once: those that are read and sent, and one widened and centred.
constexpr std::uint64_t blocks_held = 6;

/// Can the rows of this matrix pass by in blocks, again and again?
bool can_stream(const Run& run) {
  const io::Description& d = run.facts.input;
  return solvers::is_tall_and_narrow(d.rows, d.cols) && run.settings.eigen.which != solvers::Which::SM &&
         (d.type == DType::float64 || d.type == DType::float32) && io::RowReader::reads(d, run.settings.read);
}

/// The plan of a run that does not hold its matrix, where it would not fit.
void stream_if_needed(Run& run) {
  const auto fits = [&](bool device, std::uint64_t limit) {
    return limit == 0 || solvers::total_bytes(run.plan.memory.uses_of(device)) <= limit;
  };
  if ((fits(false, run.plan.host_bytes) && fits(true, run.plan.device_bytes)) || !can_stream(run)) return;
  constexpr std::uint64_t least = std::uint64_t{1} << 20, most = std::uint64_t{64} << 20;
  const std::uint64_t limit = run.plan.host_bytes == 0 ? most : run.plan.host_bytes / (2 * blocks_held);
  run.plan.block_bytes = std::clamp(limit, least, most);
  for (auto& share : run.plan.memory.shares)
    if (share.what == "matrix") share = {"blocks of rows", blocks_held * run.plan.block_bytes, share.home};
}

/// Who computes all singular values at once, as half a sentence; empty where nobody does.
std::string by_whom(const Run& run) { return run.plan.whole ? ", all at once by " + decomposed_by(run) : ""; }

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  run.plan.what = "singular values of " + d.where.text();
  static_cast<solvers::SearchPlan&>(run.plan) = solvers::plan_svd(facts_of(d), run.settings.eigen);
  solvers::MemoryNeeds needs{.rows = std::max(d.rows, d.cols),
                             .element_bytes = facts_of(d).element_bytes,
                             .matrix_bytes = bytes_of(d),
                             .sparse = d.sparse};
  take_device(run, needs);
  run.plan.memory = solvers::plan_svd_memory(run.plan.eigen, needs);
  stream_if_needed(run);
}

Loaded read(Run& run) {
  RunFacts& facts = run.facts;
  facts.method = "eigenvectors of A^H A";
  facts.block_size = run.plan.eigen.block_size, facts.max_basis = run.plan.eigen.max_basis;
  facts.quantity = "singular value", facts.vectors = "right_singular_vectors";
  if (const std::string missing = missing_text(facts.input); !missing.empty()) run.console.note(missing);
  const std::string axes = axes_text(facts.input);
  run.console.note(facts.input.where.text() + ": " + grouped(facts.input.rows) + " x " + grouped(facts.input.cols) +
                   (axes.empty() ? "" : " (" + axes + ")") + "; singular values" + by_whom(run));
  if (run.plan.block_bytes > 0) {
    run.console.note("the matrix does not fit into memory: its rows pass by in blocks for every product");
    facts.type = "float64";
    return {};
  }
  Loaded loaded{read_any(facts.input, run.settings.read), {}};
  facts.type = is_complex_input(loaded.matrix) ? "complex128" : "float64";
  return loaded;
}

void show(Run& run) {
  std::string factors;
  if (run.settings.eigen.which == solvers::Which::SM &&
      run.facts.input.nonzeros < run.facts.input.rows * run.facts.input.cols) {
    Loaded loaded = read(run);
    factors = std::visit(
        [&run]<class T>(AnyMatrix<T>& a) {
          solvers::Borrowed<T> matrix(std::move(a));
          const solvers::SvdRun<T> svd(run.ctx, matrix, run.settings.centre, run.facts.input.where.text());
          const auto estimate = solvers::estimate_svd_factors<T>(run.ctx, svd.problem(), run.settings.eigen);
          return estimate ? add_factors(run, estimate, "[delta I, A; A^H, -delta I]") : std::string();
        },
        loaded.matrix.matrix);
  }
  show_plan(run, "singular values" + by_whom(run), factors);
}

template <class T>
class Svd {
 public:
  static constexpr bool ends_when_dense = false;  // it may be one step of several
  static constexpr const char* found = " triplets";

  /// Without a matrix its rows are read in blocks.
  explicit Svd(Run& run, AnyMatrix<T>* matrix = nullptr) : run_(run) {
    if (matrix != nullptr) matrix_.emplace(std::move(*matrix));
  }

  void prepare(const solvers::EigenOptions& options) {
    options_ = options;
    const RunFacts& facts = run_.facts;
    const bool centre = run_.settings.centre;
    if (matrix_) {
      driver_.emplace(run_.ctx, *matrix_, centre, facts.input.where.text());
    } else if constexpr (!is_complex<T>) {
      const auto reader = std::make_shared<const io::RowReader>(facts.input.where, run_.settings.read);
      const auto rows = std::make_shared<const solvers::StreamedRows>(row_origin(reader, run_.settings.read),
                                                                      run_.plan.block_bytes, run_.ctx.stream);
      driver_.emplace(run_.ctx, solvers::StreamedMatrix(rows), centre);
    }
  }

  solvers::SvdsResult<T> solve() { return driver_->solve(options_); }

  solvers::EigenResult<T>& complete(solvers::SvdsResult<T>& result) {
    std::string& method = run_.facts.method;
    if (result.stage == solvers::SvdStage::whole)
      method = "decomposition of the whole matrix by " + result.triplets.decomposed_by;
    if (result.stage == solvers::SvdStage::triangular) method = "triangular factor";
    if (result.stage == solvers::SvdStage::deflated)
      method = "eigenvectors of A^H A, large ones taken out for the small";
    if (result.stage == solvers::SvdStage::inverse)
      method = "block Lanczos on (A^H A + delta^2 I)^-1, by factors of [delta I, A; A^H, -delta I]";
    extras_ = {{"left_singular_vectors", &result.left}};
    if (run_.settings.centre) {
      means_ = Matrix<T>::copy_of(HostView<const T>(result.means.data(), 1, std::ssize(result.means)));
      extras_.emplace_back("column_means", &means_);
      extras_.emplace_back("explained_variance_ratio", result.explained_variance_ratio);
    }
    return result.triplets;
  }

  std::vector<std::string> write(const solvers::EigenResult<T>& triplets) {
    return write_files(triplets, run_.settings, run_.facts, extras_);
  }

 private:
  Run& run_;
  solvers::EigenOptions options_;
  std::optional<solvers::Borrowed<T>> matrix_;
  std::optional<solvers::SvdRun<T>> driver_;
  Matrix<T> means_;
  Extras<T> extras_;
};

int solve(Run& run, Loaded& loaded) {
  if (run.plan.block_bytes > 0) return solve_and_report(run, Svd<double>(run));
  return std::visit([&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, Svd<T>(run, &matrix)); },
                    loaded.matrix.matrix);
}

}  // namespace

const Kind singular_values{plan_run, show, read, solve};

}  // namespace ts::app::tssolve
