#include <utility>

#include "tallskinny/gemm/assign/seeding/choose.hpp"
#include "tallskinny/gemm/assign/seeding/launch.hpp"
#include "tallskinny/gemm/assign/seeding/nearer_launch.hpp"
#include "tallskinny/gemm/assign/seeding/rows_in_unit.hpp"

namespace ts::inline v0::assign_device {

namespace {

/// One choice after the other, all in one launch.
template <class S>
ChosenRows choose_one_by_one(const Context& ctx, const RowsInUnit<S>& rows, PerRow<S> squared,
                             PerRow<const double> weights, const Choosing& how) {
  using Outcome = cuda::ChoiceOutcome;
  const index_t n = rows.n, places = cuda::padded_trials(how.trials);
  const cuda::KernelPlan plan =
      cuda::seed_choose_plan(is_wide<S>, how.trials, n, rows.ld * static_cast<index_t>(sizeof(S)), ctx.stream.device());
  Workspace w;
  const std::size_t found = w.reserve<S>(2 * n * places),
                    sums = w.reserve<double>(2 * static_cast<index_t>(plan.grid) * places),
                    arrivals = w.reserve<std::uint32_t>(1), numbers = w.reserve<index_t>(how.most),
                    left = w.reserve<Outcome>(1);
  w.get(ctx.stream);
  cuda::fill_bytes(ctx.stream, w.at<char>(arrivals), 0, sizeof(std::uint32_t));
  cuda::launch_with<cuda::SeedChoosePolicy>(
      ctx, plan,
      {rows.data(), n, static_cast<int>(rows.ld), weights.data, squared.data, static_cast<int>(how.trials),
       how.random.stream, how.random.key, how.first_number, static_cast<int>(how.most), how.enough, w.at<S>(found),
       w.at<double>(sums), w.at<std::uint32_t>(arrivals), w.at<index_t>(numbers), w.at<Outcome>(left)});
  ChosenRows chosen;
  chosen.rows.resize(static_cast<std::size_t>(how.most));
  cuda::copy_bytes(ctx.stream, chosen.rows.data(), w.at<char>(numbers), chosen.rows.size() * sizeof(index_t));
  const auto outcome = fetch_number(ctx, w.at<Outcome>(left));
  chosen.rows.resize(static_cast<std::size_t>(outcome.count));
  chosen.left = outcome.left;
  return chosen;
}

}  // namespace

template <class S>
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                       PerRow<const double> weights, const Choosing& how) {
  if (x.rows() == 0 || x.cols() == 0 || how.most == 0) return {};
  constexpr index_t least_at_once = 64;  // choices of a launch, between two calls of how.chosen
  const RowsInUnit<S> rows(ctx, x, unit);
  ChosenRows chosen;
  Choosing next = how;
  const auto go_on = [&](const ChosenRows& more) {
    const index_t count = std::ssize(more.rows);
    chosen.rows.insert(chosen.rows.end(), more.rows.begin(), more.rows.end());
    chosen.left = more.left;
    next.most -= count, next.first_number += static_cast<std::uint64_t>(count * how.trials);
    if (how.chosen) how.chosen(std::ssize(chosen.rows));
    return next.most > 0 && chosen.left > how.enough && chosen.left > 0;
  };
  const auto centers = [&] { return static_cast<index_t>(next.first_number) / how.trials; };
  auto plans = is_wide<S> ? std::nullopt : cuda::nearer_plans(rows.n, rows.d, ctx.stream.device());
  for (bool some = true; some;) {
    if constexpr (!is_wide<S>)
      if (plans && cuda::batches_pay(rows.n, rows.d, how.trials, centers())) {
        next.chosen = [&, before = std::ssize(chosen.rows)](index_t count) {
          if (how.chosen) how.chosen(before + count);
        };
        DeviceChoices choices(ctx, *std::exchange(plans, std::nullopt), rows.data(), rows.ld, rows.d, squared, weights);
        some = go_on(assign_detail::choose_rows(choices, next));
        continue;
      }
    Choosing together = next;
    together.most = std::min(next.most, std::max(least_at_once, centers()));
    const ChosenRows more = choose_one_by_one<S>(ctx, rows, squared, weights, together);
    some = go_on(more) && std::ssize(more.rows) == together.most;
  }
  return chosen;
}

template decltype(choose_rows<float>) choose_rows<float>;
template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::inline v0::assign_device
