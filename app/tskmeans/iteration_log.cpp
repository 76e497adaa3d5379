#include "tallskinny/app/tskmeans/iteration_log.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tallskinny/app/common/json.hpp"
#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/core/stopwatch.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::tskmeans {

double read_roof(const Rows& rows, int threads) {
  if (rows.sparse() || rows.rows() == 0 || rows.col_stride() != 1) return 0;
  const auto all = static_cast<std::size_t>(rows.rows() * rows.row_stride() * size_of(rows.type()));
  const std::size_t bytes = std::min<std::size_t>(all, std::size_t{256} << 20) / 64 * 64;
  const auto* data = static_cast<const char*>(rows.values());
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(threads));
  const Stopwatch watch;
  parallel(threads, [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    std::uint64_t part[8] = {}, word = 0;
    const std::size_t from = bytes / 64 * t / sums.size() * 64, to = bytes / 64 * (t + 1) / sums.size() * 64;
    for (std::size_t b = from; b < to; b += 64)
      for (std::size_t q = 0; q < 8; ++q) {
        std::memcpy(&word, data + b + 8 * q, 8);
        part[q] += word;
      }
    for (const std::uint64_t p : part) sums[t] += p;
  });
  const double seconds = watch.seconds();
  volatile std::uint64_t used = 0;  // or the sums need not be computed
  for (const std::uint64_t s : sums) used = used + s;
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

namespace {

/// A whole number of a line that add() wrote; -1 if the line has none.
long long member(const std::string& line, std::string_view name) {
  const std::string key = '"' + std::string(name) + "\":";
  const auto at = line.find(key);
  return at == std::string::npos ? -1 : std::strtoll(line.c_str() + at + key.size(), nullptr, 10);
}

/// The lines of the steps up to a state.
std::string lines_before(const std::string& file, const solvers::KMeansState& state) {
  std::ifstream in(file);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const long long run = member(line, "run"), iteration = member(line, "iteration");
    if (run < 0 || iteration < 1 || run > state.run || (run == state.run && iteration > state.iteration)) break;
    kept += line + '\n';
  }
  return kept;
}

}  // namespace

IterationLog::IterationLog(const std::string& file, const PassLimit& limit, const solvers::KMeansState* resume,
                           std::function<void(const std::string&)> warn)
    : warn_(std::move(warn)), limit_(limit) {
  if (file.empty()) return;
  out_.emplace(file);
  if (resume != nullptr) out_->write(lines_before(file, *resume));
  out_->commit();
}

double IterationLog::least_seconds(const solvers::KMeansProgress& p) const {
  if (limit_.streamed != nullptr) return limit_.streamed->times().slowest_of_last;
  if (limit_.bytes_per_second <= 0) return 0;
  return std::max(limit_.bytes / limit_.bytes_per_second, static_cast<double>(p.clusters) * limit_.seconds_per_cluster);
}

void IterationLog::add(const solvers::KMeansProgress& p) {
  if (p.iteration == 0) return;
  all_.push_back(p);
  if (!out_) return;
  app::JsonObject line;
  line.add("n_clusters", p.clusters).add("run", p.run).add("iteration", p.iteration).add("inertia", p.inertia);
  line.add("moved", p.changed).add("squared_shift", p.squared_shift).add("relocated", p.relocated);
  line.add("rescored", p.rescored)
      .add("skipped", p.skipped)
      .add("coarse", p.coarse)
      .add("met", p.scored)
      .add("filter", name_of(p.filter))
      .add("scorer", p.scorer)
      .add("seconds", p.seconds);
  line.add("gb_per_second", p.seconds > 0 ? limit_.bytes / p.seconds / 1e9 : 0);
  const double least = least_seconds(p);
  if (least > 0 && p.seconds > 0)
    line.add("share_of_limit", least / p.seconds);
  else
    line.add_null("share_of_limit");
  pending_ += line.text(-1) + '\n';
  try {
    out_->write(pending_);  // at once: a reader follows it
    pending_.clear();
  } catch (const Error& error) {
    if (warn_)
      warn_(std::string("--log: a line was not written; the run continues and will try again: ") + error.what());
    warn_ = {};
  }
}

}  // namespace ts::tskmeans
