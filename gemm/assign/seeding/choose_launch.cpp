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

/// Many candidates at a time; fewer choices where that serves them no longer.
ChosenRows choose_in_batches(const Context& ctx, cuda::NearerPlans plans, const RowsInUnit<float>& rows,
                             PerRow<float> squared, PerRow<const double> weights, const Choosing& how) {
  const std::size_t bytes = static_cast<std::size_t>(rows.n) * sizeof(float);
  std::vector<float> here(static_cast<std::size_t>(rows.n));
  std::vector<double> weights_here(static_cast<std::size_t>(weights.size));
  if (!weights.empty()) fetch_numbers<double>(ctx, weights_here, weights.data);
  fetch_numbers<float>(ctx, here, squared.data);
  DeviceNearerRowSearch search(ctx, std::move(plans), rows.data(), rows.n, rows.ld, rows.d);
  ChosenRows chosen = assign_detail::choose_rows<float>(ctx, search, here, weights_here, how);
  cuda::copy_bytes(ctx.stream, squared.data, here.data(), bytes);
  ctx.stream.synchronize();
  return chosen;
}

}  // namespace

template <class S>
ChosenRows choose_rows(const Context& ctx, const Rows& x, const SeedingUnit& unit, PerRow<S> squared,
                       PerRow<const double> weights, const Choosing& how) {
  if (x.rows() == 0 || x.cols() == 0 || how.most == 0) return {};
  const RowsInUnit<S> rows(ctx, x, unit);
  if constexpr (!is_wide<S>) {
    const cuda::DeviceInfo& device = ctx.stream.device();
    const auto centers = static_cast<index_t>(how.first_number) / how.trials;
    auto plans = cuda::nearer_plans(rows.n, rows.d, device);
    if (plans && cuda::batches_pay(rows.n, rows.d, how.trials, centers)) {
      ChosenRows chosen = choose_in_batches(ctx, *std::move(plans), rows, squared, weights, how);
      const index_t have = std::ssize(chosen.rows);
      if (have == how.most || !(chosen.left > how.enough) || !(chosen.left > 0)) return chosen;
      Choosing others = how;
      others.most -= have, others.first_number += static_cast<std::uint64_t>(have * how.trials);
      const ChosenRows rest = choose_one_by_one<S>(ctx, rows, squared, weights, others);
      chosen.rows.insert(chosen.rows.end(), rest.rows.begin(), rest.rows.end());
      chosen.left = rest.left;
      return chosen;
    }
  }
  return choose_one_by_one<S>(ctx, rows, squared, weights, how);
}

template decltype(choose_rows<float>) choose_rows<float>;
template decltype(choose_rows<double>) choose_rows<double>;

}  // namespace ts::inline v0::assign_device
