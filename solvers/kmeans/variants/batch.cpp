#include "tallskinny/solvers/kmeans/variants/batch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>

#include "tallskinny/gemm/runtime/gpu/device_matrix.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

constexpr index_t most_streams = 8, most_rows_at_once = index_t{1} << 22;

void check_batch(const Context& ctx, std::span<const Rows> problems, const KMeansOptions& o) {
  expects(!problems.empty(), "a batch must have at least 1 problem");
  expects(ctx.communicator->size() == 1, "a batch of problems is solved on one rank");
  const auto differs = [&first = problems.front()](const Rows& x) {
    return x.rows() != first.rows() || x.cols() != first.cols() || x.type() != first.type() ||
           x.space() != first.space() || x.sparse() != first.sparse();
  };
  expects(std::none_of(problems.begin(), problems.end(), differs),
          "the problems of a batch must have rows of one shape and one type, in one memory");
  expects(o.resume == nullptr && !o.on_state && !o.split_centers,
          "the problems of a batch cannot be stopped and resumed, nor split by a function");
}

/// `e`, whose sentence begins with the number of the problem.
[[noreturn]] void throw_of(std::size_t problem, const std::exception_ptr& e) {
  const std::string place = "problem " + std::to_string(problem) + " of the batch (counted from 0): ";
  try {
    std::rethrow_exception(e);
  } catch (const KMeansRangeError& error) {
    throw KMeansRangeError(error.of(), place + error.what());
  } catch (const Error& error) {
    throw Error(error.code(), place + error.what());
  }
}

class Batch {
 public:
  Batch(std::span<const Rows> problems, const KMeansOptions& options)
      : problems_(problems), o_(options), results_(problems.size()), failures_(problems.size()) {}

  [[nodiscard]] index_t size() const noexcept { return std::ssize(problems_); }
  void run(const Context& ctx, index_t b) noexcept {
    if (failed_) return;
    try {
      results_[at(b)] = kmeans(ctx, problems_[at(b)].on(ctx.stream), options_of(b));
      if (stopped_) throw Error(Errc::interrupted, "stopped before all problems of the batch were solved");
    } catch (...) {
      failures_[at(b)] = std::current_exception(), failed_ = true;
    }
  }
  [[nodiscard]] std::vector<KMeansResult> results() && {
    for (std::size_t b = 0; b < failures_.size(); ++b)
      if (failures_[b]) throw_of(b, failures_[b]);
    return std::move(results_);
  }

 private:
  [[nodiscard]] KMeansOptions options_of(index_t b) {
    KMeansOptions o = o_;
    o.seed = o_.seed + static_cast<std::uint64_t>(b);
    const std::size_t n = at(problems_.front().rows());
    if (size() > 1 && o.weights.size() == at(size()) * n) o.weights = o.weights.subspan(at(b) * n, n);
    if (size() > 1 && o.centers.rows() == size() * o.clusters) o.centers = o.centers.rows(b * o.clusters, o.clusters);
    if (o_.on_progress) o.on_progress = [this, b](const KMeansProgress& now) { return go_on(b, now); };
    return o;
  }
  bool go_on(index_t b, KMeansProgress now) {
    now.run += static_cast<int>(b) * now.runs, now.runs *= static_cast<int>(size());
    const std::lock_guard lock(mutex_);
    if (!stopped_) stopped_ = !o_.on_progress(now);
    return !stopped_;
  }

  std::span<const Rows> problems_;
  const KMeansOptions& o_;
  std::vector<KMeansResult> results_;
  std::vector<std::exception_ptr> failures_;
  std::mutex mutex_;
  std::atomic<bool> stopped_ = false, failed_ = false;
};

void run_on_threads(const Context& ctx, double products, Batch& batch) {
  constexpr double worth_a_thread = 1 << 22;  // products of a pass
  const index_t threads = ctx.thread_count();
  const bool large = products >= worth_a_thread * static_cast<double>(threads);
  const index_t together = batch.size() - (large ? batch.size() % threads : 0);
  Context one = ctx;
  one.threads = 1;
  parallel_pieces(static_cast<int>(threads), together, [&](index_t b, int) { batch.run(one, b); });
  for (index_t b = together; b < batch.size(); ++b) batch.run(ctx, b);
}

void run_on_streams(const Context& ctx, index_t rows, Batch& batch) {
  batch.run(ctx, 0);  // compiles kernels on all threads
  ctx.stream.synchronize();
  const bool rehearses = ctx.stream.rehearsal() != nullptr;  // which is one list of kernels
  const index_t fit = std::clamp<index_t>(most_rows_at_once / std::max<index_t>(rows, 1), 1, most_streams);
  const index_t streams = std::min(rehearses ? 1 : fit, batch.size() - 1);
  std::vector<Context> contexts(at(streams), ctx);
  std::vector<std::unique_ptr<cuda::KeepMemory>> kept;
  for (Context& one : contexts) {
    one.threads = 1, one.stream = ctx.stream.another();
    kept.push_back(std::make_unique<cuda::KeepMemory>(one.stream));
  }
  parallel_pieces(static_cast<int>(streams), batch.size() - 1,
                  [&](index_t b, int thread) { batch.run(contexts[at(thread)], b + 1); });
}

}  // namespace

std::vector<KMeansResult> kmeans_batch(const Context& ctx, std::span<const Rows> problems,
                                       const KMeansOptions& options) {
  check_batch(ctx, problems, options);
  Batch batch(problems, options);
  const Rows& first = problems.front();
  if (first.on_device())
    run_on_streams(ctx, first.rows(), batch);
  else
    run_on_threads(ctx, static_cast<double>(first.rows()) * static_cast<double>(first.cols() * options.clusters),
                   batch);
  return std::move(batch).results();
}

std::vector<Rows> equal_blocks(const Rows& rows, index_t blocks) {
  expects(blocks >= 1 && rows.rows() % blocks == 0, "equal blocks need rows that are a multiple of their number");
  const index_t each = rows.rows() / blocks;
  std::vector<Rows> found;
  for (index_t b = 0; b < blocks; ++b) found.push_back(rows.block(b * each, each));
  return found;
}

}  // namespace ts::inline v0::solvers
