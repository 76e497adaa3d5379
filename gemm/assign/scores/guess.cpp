// Labels to begin a pass of Pruning with.
#include <algorithm>
#include <array>

#include "tallskinny/gemm/assign/scores/pruning.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"

namespace ts::inline v0 {

namespace {

using assign_cpu::head_group;
using assign_detail::GroupsOfBytes;

constexpr index_t guessed_rows = 2048;  ///< whose groups are sorted
constexpr int most_at_once = assign_cpu::most_head_rows;

/// The groups of least score, the least first.
struct Probed {
  std::array<float, Pruning::guessed_groups> score;
  std::array<std::int32_t, Pruning::guessed_groups> group;

  void clear() noexcept { score.fill(assign_cpu::no_bound), group.fill(-1); }
  void put(float s, std::int32_t g) noexcept {
    std::size_t q = score.size() - 1;
    for (; q > 0 && s < score[q - 1]; --q) score[q] = score[q - 1], group[q] = group[q - 1];
    score[q] = s, group[q] = g;
  }
};

}  // namespace

/// The heads of rows, met by the kernels for all of a group.
class Guess {
 public:
  Guess(const assign_cpu::AssignKernels& kernels, const Pruning& of) : kernels_(kernels), of_(of) {}

  void operator()(index_t first, std::span<std::int32_t> labels) const {
    const index_t count = std::ssize(labels);
    std::vector<Probed> probed(labels.size());
    std::vector<index_t> rows(labels.size());
    for (index_t i = 0; i < count; ++i) probed[at(i)].clear(), rows[at(i)] = first + i;
    const assign_cpu::UseTiles tiles(kernels_.pruning);
    for (index_t g = 0; g < of_.means_.groups(); ++g)
      meet(of_.means_, g, rows, [&](index_t i, index_t place, float score) {
        if (place < of_.groups_ && score < probed[at(i)].score.back())
          probed[at(i)].put(score, static_cast<std::int32_t>(place));
      });
    // Rows of a group together.
    std::vector<index_t> begin(at(of_.groups_ + 1));
    for (const Probed& p : probed)
      for (const std::int32_t g : p.group)
        if (g >= 0) ++begin[at(g + 1)];
    for (index_t g = 0; g < of_.groups_; ++g) begin[at(g + 1)] += begin[at(g)];
    std::vector<index_t> sorted(at(begin.back())), next(begin.begin(), begin.end() - 1);
    for (index_t i = 0; i < count; ++i)
      for (const std::int32_t g : probed[at(i)].group)
        if (g >= 0) sorted[at(next[at(g)]++)] = first + i;
    std::vector<float> best(labels.size(), assign_cpu::no_bound);
    std::fill(labels.begin(), labels.end(), 0);
    for (index_t g = 0; g < of_.groups_; ++g) {
      const std::span<const index_t> those =
          std::span(sorted).subspan(at(begin[at(g)]), at(next[at(g)] - begin[at(g)]));
      meet(of_.groups_of_heads_, g, those, [&](index_t q, index_t place, float score) {
        const std::size_t i = at(those[at(q)] - first);
        if (score < best[i]) best[i] = score, labels[i] = of_.number_[at(place)];
      });
    }
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

  /// use(q, place, score) for rows[q] and the centroids of a group.
  template <class Use>
  void meet(const GroupsOfBytes& groups, index_t g, std::span<const index_t> rows, const Use& use) const {
    const assign_cpu::GroupOfHeads group = groups.group(g);
    const index_t at_once = kernels_.pruning.rows, count = std::ssize(rows);
    std::array<const std::int8_t*, most_at_once> head;
    std::array<std::int32_t, most_at_once> start;
    std::array<std::int32_t, most_at_once * head_group> products;
    for (index_t q0 = 0; q0 < count; q0 += at_once) {
      for (index_t q = 0; q < at_once; ++q) {
        const index_t row = rows[at(std::min(q0 + q, count - 1))];
        head[at(q)] = of_.bytes_.data() + row * of_.columns_, start[at(q)] = of_.start_[at(row)];
      }
      const auto some = static_cast<int>(std::min(at_once, count - q0));
      kernels_.pairs.of_group(group.quads, of_.columns_, head.data(), some, start.data(), products.data());
      for (index_t q = q0; q < std::min(q0 + at_once, count); ++q) {
        const float unit = of_.unit_[at(rows[at(q)])];
        const std::int32_t* const of_row = products.data() + (q - q0) * head_group;
        std::array<float, head_group> score;
        for (std::size_t c = 0; c < score.size(); ++c)
          score[c] = group.half_norms[c] + group.scale[c] * unit * static_cast<float>(of_row[c]);
        for (index_t c = 0; c < head_group; ++c) use(q, group.first + c, score[at(c)]);
      }
    }
  }

  const assign_cpu::AssignKernels& kernels_;
  const Pruning& of_;
};

void Pruning::place_means(const Context& ctx, const assign_cpu::AssignKernels& kernels) {
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  Matrix<float> means(groups_, d_), heads(groups_, columns_);
  parallel_for(ctx.thread_count(), groups_, [&](index_t g) {
    const index_t begin = g * head_group, end = std::min(k_, begin + head_group);
    std::vector<double> sum(at(d_));
    for (index_t q = begin; q < end; ++q)
      for (index_t j = 0; j < d_; ++j) sum[at(j)] += scaled_(number_[at(q)], j);
    for (index_t j = 0; j < d_; ++j) means(g, j) = static_cast<float>(sum[at(j)] / static_cast<double>(end - begin));
  });
  tsmm(ctx, Op::none, 1.0F, means.cview(), axes_.cview(), 0.0F, heads.view());
  means_ = GroupsOfBytes(kernels.pruning, groups_, columns_);
  std::vector<std::int8_t> bytes(at(columns_));
  for (index_t g = 0; g < groups_; ++g) {
    double square = 0;
    for (index_t a = 0; a < columns_; ++a)
      square += static_cast<double>(heads(g, a)) * static_cast<double>(heads(g, a));
    const assign_detail::Bytes of =
        assign_detail::round_to_bytes(kernels.pruning, &heads(g, 0), columns_, std::sqrt(square), bytes.data());
    means_.put(kernels.pruning, g, bytes.data(), of.unit);
    means_.half_norms[at(g)] = static_cast<float>(square / 2);
  }
}

void Pruning::guess(const Context& ctx, std::span<std::int32_t> labels) {
  const auto count = static_cast<index_t>(labels.size());
  expects(serves_ && count <= rows_, "pruning: labels are guessed of its rows, after begin_pass()");
  const assign_cpu::AssignKernels& kernels = assign_cpu::select(ctx.simd);
  if (means_.columns == 0) place_means(ctx, kernels);
  const Guess guess(kernels, *this);
  parallel_ranges(ctx.thread_count(), (count + guessed_rows - 1) / guessed_rows, [&](index_t begin, index_t end) {
    for (index_t first = begin * guessed_rows; first < std::min(count, end * guessed_rows); first += guessed_rows)
      guess(first, labels.subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(std::min(guessed_rows, count - first))));
  });
}

}  // namespace ts::inline v0
