#include "tallskinny/app/tsbench/gpu/tune.hpp"

#include <algorithm>
#include <set>

#include "tallskinny/app/tsbench/check.hpp"
#include "tallskinny/app/tsbench/gpu/clock.hpp"
#include "tallskinny/app/tsbench/run.hpp"

namespace ts::bench {

namespace {

std::string value_of(const cuda::KernelPlan& kernel, const std::string& name) {
  for (const auto& [known, value] : kernel.defines)
    if (known == name) return value;
  return {};
}

/// The defines in which not all kernels agree.
std::set<std::string> differences(const std::vector<cuda::KernelPlan>& kernels) {
  std::set<std::string> names;
  for (const cuda::KernelPlan& kernel : kernels)
    for (const auto& [name, value] : kernel.defines)
      if (std::any_of(kernels.begin(), kernels.end(),
                      [&, n = name, v = value](const auto& other) { return value_of(other, n) != v; }))
        names.insert(name);
  return names;
}

template <class T>
ContestResult run_candidates(const Context& ctx, const GpuPool& pool, const Case& c, const Contest& contest,
                             int repetitions) {
  const DeviceSets<T> o = pool.operands<T>(c);
  const auto own = ctx.stream.device().tuned;
  ContestResult result;
  for (std::size_t k = 0; k < contest.kernels.size(); ++k) {
    auto table = std::make_shared<cuda::TunedTable>();
    if (k > 0) table->set(cuda::tuned_key(contest.problem), {contest.marks[k], 1});
    ctx.stream.choose_by(std::move(table));
    Turns turns({[&] { bench::run(ctx, o.sets.front()); }});
    const double seconds = stream_timing(ctx, repetitions, turns).median;
    const bool leads = k == 0 || seconds < result.seconds[result.best];
    pool.refill(o.sets.front());
    if (leads) bench::run(ctx, o.sets.front());
    const bool right = !leads || worst_error(ctx, o.sets.front()) <= 1;
    result.seconds.push_back(right ? seconds : HUGE_VAL);
    if (leads && right) result.best = k;
  }
  ctx.stream.choose_by(own);
  return result;
}

/// What stands for an operation that no single kernel carries out.
cuda::Candidate cut_into_panels() {
  cuda::Candidate candidate;
  candidate.kernel.family = "panels", candidate.kernel.defines = {{"panels", "1"}}, candidate.kernel.grid = 0;
  return candidate;
}

}  // namespace

std::string text_of(const cuda::Defines& defines) {
  std::string text;
  for (const auto& [name, value] : defines) text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  return text;
}

Contest contest_of(const Case& c, const cuda::DeviceInfo& device, std::size_t most) {
  Contest contest;
  contest.problem = gpu_problem_of(c, Determinism::run_to_run);
  if (cuda::tuned_key(contest.problem).empty()) return contest;
  std::vector<cuda::Candidate> all = cuda::ranked_candidates(contest.problem, device);
  if (all.empty()) all.push_back(cut_into_panels());
  all.resize(std::min(most, all.size()));
  for (const cuda::Family& library : cuda::libraries())
    for (cuda::Candidate& candidate : library.candidates(contest.problem, device)) all.push_back(std::move(candidate));
  std::vector<cuda::KernelPlan> everything;
  everything.reserve(all.size());
  for (const cuda::Candidate& candidate : all) everything.push_back(candidate.kernel);
  const auto names = differences(everything);
  for (std::size_t k = 0; k < everything.size(); ++k) {
    cuda::Defines mark;
    for (const auto& define : everything[k].defines)
      if (names.contains(define.first)) mark.push_back(define);
    const auto first = std::find_if(everything.begin(), everything.end(),
                                    [&](const auto& kernel) { return cuda::has_defines(kernel, mark); });
    if (first != everything.begin() + static_cast<std::ptrdiff_t>(k)) continue;  // cannot be told apart
    contest.kernels.push_back(everything[k]), contest.seconds.push_back(all[k].seconds);
    contest.marks.push_back(std::move(mark));
  }
  return contest;
}

ContestResult run_contest(const Context& ctx, const GpuPool& pool, const Case& c, const Contest& contest,
                          int repetitions) {
  return by_type(c.problem.type,
                 [&]<class T>(std::type_identity<T>) { return run_candidates<T>(ctx, pool, c, contest, repetitions); });
}

}  // namespace ts::bench
