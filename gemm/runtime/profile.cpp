#include "tallskinny/gemm/runtime/profile.hpp"

#include <algorithm>
#include <utility>

#include "tallskinny/gemm/runtime/threads/parallel.hpp"

namespace ts::inline v0 {

namespace {

using Clock = std::chrono::steady_clock;

thread_local Profile* in_use = nullptr;

}  // namespace

double least_seconds(const Cost& cost, DType type, const Roofs& roofs) {
  const bool single = type != DType::float64 && type != DType::complex128;
  const double flops = single ? roofs.float32_flops : roofs.float64_flops;
  if (!(roofs.read_bytes_per_second > 0) || !(roofs.copy_bytes_per_second > 0) || !(flops > 0)) return 0;
  const double copied = cost.written_bytes + std::min(cost.read_bytes, cost.written_bytes);
  const double memory = copied / roofs.copy_bytes_per_second + (cost.bytes() - copied) / roofs.read_bytes_per_second;
  return std::max(memory, cost.flops / flops);
}

Profile::Use::Use(Profile& profile) noexcept : before_(std::exchange(in_use, &profile)) {}
Profile::Use::~Use() { in_use = before_; }

Profile::Piece::Piece(const Context& ctx, const Problem& problem, Space space)
    : Piece(ctx, name_of(problem.operation), in_use != nullptr ? cost_of(problem) : Cost{}, problem.type, space) {}

Profile::Piece::Piece(const Context& ctx, std::string_view what, const Cost& cost, std::optional<DType> roof_of,
                      Space space) {
  if (in_use == nullptr || in_parallel()) return;
  const bool device = space == Space::device;
  if (device && ctx.stream.rehearsal() != nullptr) return;
  profile_ = in_use, what_ = what, cost_ = cost;
  if (roof_of) least_ = least_seconds(cost, *roof_of, profile_->roofs_);
  if (device) {
    stream_ = ctx.stream;
    started_.emplace(stream_);
    started_->record(stream_);
  }
  start_ = Clock::now();
}

Profile::Piece::~Piece() {
  if (profile_ == nullptr) return;
  if (!started_) {
    profile_->note(what_, cost_, least_, std::chrono::duration<double>(Clock::now() - start_).count());
    return;
  }
  constexpr std::size_t most_pending = 4096;
  try {
    cuda::Event end(stream_);
    end.record(stream_);
    profile_->pending_.push_back({what_, cost_, least_, *started_, end});
    if (profile_->pending_.size() >= most_pending) profile_->settle();
  } catch (const Error&) {  // the operation itself reports what befell the device
  }
}

void Profile::note(std::string_view what, const Cost& cost, double least, double seconds) {
  WorkDone& done = done_[what];
  done.what = what;
  ++done.calls;
  done.seconds += seconds, done.least_seconds += least;
  done.cost.read_bytes += cost.read_bytes, done.cost.written_bytes += cost.written_bytes;
  done.cost.flops += cost.flops;
  if (least > 0 && seconds * near_roof <= least) done.near_roof_seconds += seconds;
}

void Profile::settle() {
  for (const Pending& p : pending_) note(p.what, p.cost, p.least, p.end.seconds_since(p.start));
  pending_.clear();
}

std::vector<WorkDone> Profile::work() {
  settle();
  std::vector<WorkDone> list;
  list.reserve(done_.size());
  for (const auto& [what, done] : done_) list.push_back(done);
  std::stable_sort(list.begin(), list.end(),
                   [](const WorkDone& a, const WorkDone& b) { return a.seconds > b.seconds; });
  return list;
}

}  // namespace ts::inline v0
