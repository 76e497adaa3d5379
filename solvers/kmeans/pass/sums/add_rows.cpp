#include "tallskinny/solvers/kmeans/pass/sums/add_rows.hpp"

#include "tallskinny/solvers/kmeans/pass/cpu/kernels.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/launch.hpp"
#include "tallskinny/solvers/kmeans/pass/sums/team.hpp"

namespace ts::inline v0 {

namespace {

/// What for_each_piece() asks of a pass.
struct AddRows {
  struct Scratch {
    std::vector<double> row;
  };
  [[nodiscard]] static Scratch scratch() { return {}; }
};

}  // namespace

void add_rows(const Context& ctx, const Rows& x, const ColumnMoments& moments, PerRow<const std::int32_t> labels,
              PerRow<const double> weights, const FixedPoint& unit, ClusterSums& sums) {
  assign_detail::expect_per_row(x, labels, "labels");
  expects(sums.cols() == x.cols(), "add_rows: the sums are those of other rows");
  if (x.on_device()) return assign_device::add_rows(ctx, x, moments, labels, weights, unit, sums);
  const auto& kernels = assign_cpu::select(ctx.simd);
  const index_t chunks = assign_detail::chunk_count(x.rows());
  const int team = assign_detail::team_size(ctx, chunks, static_cast<double>(chunk_rows * x.cols()));
  (void)assign_detail::for_each_piece(team, AddRows{}, chunks, &sums, [&](index_t c, ClusterSums* own, auto& s) {
    for (index_t i = c * chunk_rows; i < std::min(x.rows(), (c + 1) * chunk_rows); ++i) {
      const std::int32_t label = labels.data[i];
      const double weight = weights.empty() ? 1.0 : weights.data[i];
      if (label < 0 || weight == 0) continue;
      s.row.resize(static_cast<std::size_t>(x.entries(i)));
      if (x.sparse()) {
        x.load_entries(i, s.row.data());
        own->add_sparse(unit, label, s.row.data(), x.indices() + x.pointers()[i], x.entries(i), weight);
      } else {
        kernels.centred(x, i, moments.shift.data(), s.row.data());
        own->add(unit, label, s.row.data(), weight);
      }
    }
  });
}

ClusterSums sums_of_ranks(const Context& ctx, const ClusterSums& here) {
  std::vector<std::uint64_t> words = here.words();
  ctx.communicator->add(words);
  ClusterSums all(here.clusters(), here.cols());
  all.add_words(words, ctx.thread_count());
  return all;
}

}  // namespace ts::inline v0
