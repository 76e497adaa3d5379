#include <algorithm>

#include "tallskinny/app/common/memory.hpp"
#include "tallskinny/app/common/read_options.hpp"
#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/setup/streamed_matrix.hpp"
#include "tallskinny/solvers/setup/svd_problem.hpp"

namespace ts::app::tssolve {

namespace {

/// The problem; a dense matrix is centred in place.
template <class T>
solvers::SvdAssembled<T> assembled(const Context& ctx, AnyMatrix<T>& matrix, bool centre) {
  auto* dense = std::get_if<Matrix<T>>(&matrix);
  if (dense == nullptr || !centre) return solvers::assemble_svd<T>(ctx, matrix, centre);
  std::vector<T> means = solvers::centre_columns<T>(ctx, *dense);
  auto out = solvers::assemble_svd<T>(ctx, matrix);
  out.means = std::move(means);
  return out;
}

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
  const bool narrow = d.cols <= 4096 && 16 * d.cols <= d.rows;
  return narrow && run.settings.eigen.which != solvers::Which::SM &&
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

constexpr auto task = solvers::DenseTask::singular;

/// Are all singular values computed at once?
bool is_whole(const Run& run) {
  const io::Description& d = run.facts.input;
  const bool dense = d.nonzeros == d.rows * d.cols && !d.sparse;
  return dense && run.settings.eigen.which != solvers::Which::SM &&
         solvers::svd_takes_whole(d.rows, d.cols, run.plan.eigen.nev);
}

/// By whom, as half a sentence; empty where they are not.
std::string by_whom(const Run& run) { return is_whole(run) ? ", all at once by " + decomposed_by(run, task) : ""; }

void plan_run(Run& run) {
  const io::Description& d = run.facts.input;
  const std::size_t element_bytes = is_complex_type(d) ? 16 : 8;
  run.plan.what = "singular values of " + d.where.text();
  run.plan.eigen = solvers::plan_eigen(std::min(d.rows, d.cols), element_bytes, run.settings.eigen);
  const bool by_products = run.settings.eigen.which != solvers::Which::SM;
  auto work = solvers::work_of_search(run.plan.eigen, std::min(d.rows, d.cols), element_bytes, 2 * d.bytes);
  work.sent = static_cast<double>(d.bytes);
  const bool whole = is_whole(run);
  if (whole) work = solvers::work_of_decomposition(task, d.rows, d.cols, element_bytes);
  take_device(run, "", by_products ? work : solvers::RunWork());
  solvers::MemoryNeeds needs{.rows = std::max(d.rows, d.cols),
                             .element_bytes = element_bytes,
                             .matrix_bytes = bytes_of(d),
                             .space = run.ctx.stream ? Space::device : Space::host,
                             .device_bytes = 0,
                             .sparse = d.sparse};
  if (whole) needs.whole = bytes_of_decomposition(run, task);
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
          const auto svd = assembled<T>(run.ctx, a, run.settings.centre);
          const auto estimate = solvers::estimate_svd_factors<T>(run.ctx, svd.problem, run.settings.eigen);
          return estimate ? add_factors(run, estimate, "[delta I, A; A^H, -delta I]") : std::string();
        },
        loaded.matrix.matrix);
  }
  const io::Description& d = run.facts.input;
  std::cout << d.where.text() << ": " << grouped(d.rows) << " x " << grouped(d.cols) << ", singular values"
            << by_whom(run) << "\nmemory:\n";
  print_memory(std::cout, run.plan.memory.uses_of(false), run.plan.host_bytes);
  show_device_memory(run);
  if (run.plan.block_bytes > 0) std::cout << "the matrix does not fit: its rows pass by in blocks for every product\n";
  if (!factors.empty()) std::cout << "factors " << factors << '\n';
}

/// Reports and writes a decomposition, wherever its matrix is.
template <class T>
class SvdRun {
 public:
  static constexpr bool ends_when_dense = false;  // it may be one step of several
  static constexpr const char* found = " triplets";
  std::vector<std::string> write(const solvers::EigenResult<T>& triplets) {
    return write_files(triplets, run_.settings, run_.facts, extras_);
  }

 protected:
  explicit SvdRun(Run& run) : run_(run) {}

  solvers::EigenResult<T>& completed(solvers::SvdResult<T>& result) {
    std::string& method = run_.facts.method;
    if (result.stage == solvers::SvdStage::whole)
      method = "decomposition of the whole matrix by " + result.triplets.decomposed_by;
    if (result.stage == solvers::SvdStage::triangular) method = "triangular factor";
    if (result.stage == solvers::SvdStage::deflated)
      method = "eigenvectors of A^H A, large ones taken out for the small";
    if (result.stage == solvers::SvdStage::inverse)
      method = "block Lanczos on (A^H A + delta^2 I)^-1, by factors of [delta I, A; A^H, -delta I]";
    left_ = std::move(result.left);
    extras_ = {{"left_singular_vectors", &left_}};
    return result.triplets;
  }

  /// Means of columns, 2^-exponent times what they were, and the share of the variance that each component explains.
  void add_means(const std::vector<T>& means, int exponent, const std::vector<double>& sigma, double squares) {
    mean_row_ = Matrix<T>(1, static_cast<index_t>(means.size()));
    for (index_t j = 0; j < mean_row_.cols(); ++j) mean_row_(0, j) = solvers::scaled(means[at(j)], exponent);
    extras_.emplace_back("column_means", &mean_row_);
    extras_.emplace_back("explained_variance_ratio", solvers::variance_ratios(sigma, squares));
  }

  Run& run_;

 private:
  Matrix<T> left_, mean_row_;
  Extras<T> extras_;
};

template <class T>
class Svd : public SvdRun<T> {
 public:
  Svd(Run& run, AnyMatrix<T>& matrix) : SvdRun<T>(run), matrix_(matrix) {}

  int scale() { return exponent_ = solvers::take_exponent(run_.ctx, matrix_); }

  void prepare(const solvers::EigenOptions&) { svd_ = assembled<T>(run_.ctx, matrix_, run_.settings.centre); }

  solvers::SvdResult<T> solve(const solvers::EigenOptions& options) {
    return solvers::solve_svd<T>(run_.ctx, svd_.problem, options);
  }

  solvers::EigenResult<T>& complete(const solvers::EigenOptions&, solvers::SvdResult<T>& result) {
    auto& triplets = this->completed(result);
    if (run_.settings.centre)
      this->add_means(svd_.means, exponent_, triplets.values, solvers::squares_of<T>(run_.ctx, matrix_, svd_.means));
    return triplets;
  }

 private:
  using SvdRun<T>::run_;
  AnyMatrix<T>& matrix_;
  int exponent_ = 0;
  solvers::SvdAssembled<T> svd_;
};

/// SvdRun of a matrix whose rows are read in blocks.
class StreamedSvd : public SvdRun<double> {
 public:
  explicit StreamedSvd(Run& run)
      : SvdRun(run),
        matrix_(std::make_shared<const solvers::StreamedRows>(
            row_origin(std::make_shared<const io::RowReader>(run.facts.input.where, run.settings.read),
                       run.settings.read),
            run.plan.block_bytes, run.ctx.stream)) {}

  static int scale() { return 0; }
  void prepare(const solvers::EigenOptions&) {
    if (run_.settings.centre) matrix_.centre(run_.ctx);
  }
  solvers::SvdResult<double> solve(const solvers::EigenOptions& options) {
    return solvers::solve_svd<double>(run_.ctx, {matrix_.products()}, options);
  }
  solvers::EigenResult<double>& complete(const solvers::EigenOptions&, solvers::SvdResult<double>& result) {
    auto& triplets = completed(result);
    if (run_.settings.centre) add_means(matrix_.means(), 0, triplets.values, matrix_.squares());
    return triplets;
  }

 private:
  solvers::StreamedMatrix matrix_;
};

int solve(Run& run, Loaded& loaded) {
  if (run.plan.block_bytes > 0) return solve_and_report(run, StreamedSvd(run));
  return std::visit([&]<class T>(AnyMatrix<T>& matrix) { return solve_and_report(run, Svd<T>(run, matrix)); },
                    loaded.matrix.matrix);
}

}  // namespace

const Kind singular_values{plan_run, show, read, solve};

}  // namespace ts::app::tssolve
