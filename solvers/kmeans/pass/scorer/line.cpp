// Passes over rows of one column in host memory.
#include "tallskinny/solvers/kmeans/pass/scorer/line.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/solvers/kmeans/pass/host_pass.hpp"
#include "tallskinny/solvers/kmeans/pass/resolver/squared_distance.hpp"
#include "tallskinny/solvers/kmeans/pass/scorer/centroids.hpp"

namespace ts::inline v0::assign_detail {

Line::Line(HostView<const double> centroids, const ColumnMoments& moments) : scale_(scoring_scale(centroids, moments)) {
  if (scale_ < 0x1p-900) shrink_ = scale_;
  std::vector<std::pair<double, std::int32_t>> sorted;
  sorted.reserve(at(centroids.rows()));
  for (index_t m = 0; m < centroids.rows(); ++m)
    sorted.emplace_back(centroids(m, 0) + 0.0, static_cast<std::int32_t>(m));  // -0.0 becomes 0.0
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [value, number] : sorted)
    if (values_.empty() || values_.back() != value) values_.push_back(value), numbers_.push_back(number);
  of_centroids_.resize(sorted.size());
  set_stretches();
  set_buckets();
}

void Line::set_stretches() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double least_gap = 0x1p-480;  // once scaled: squares of less may vanish
  constexpr double far = 0x1p88;          // in gaps: from there on two centroids may tie
  struct Gap {
    double half, middle, unproven;
  };
  const auto gap = [this](std::size_t p) {
    const double a = values_[p], b = values_[p + 1], half = b / 2 - a / 2;  // which cannot overflow
    const double rounding =
        std::max(std::abs(a), std::abs(b)) * 0x1p-50 + 4 * std::numeric_limits<double>::denorm_min();
    return Gap{half, b / 2 + a / 2, rounding + half * 0x1p-60};
  };
  order_.assign(values_.size(), {-inf, inf});
  for (std::size_t p = 0; p + 1 < values_.size(); ++p) {
    const auto [half, middle, unproven] = gap(p);
    Stretch &left = order_[p], &right = order_[p + 1];
    left.to = std::min(left.to, middle - unproven), left.from = std::max(left.from, values_[p] - half * far);
    right.from = middle + unproven, right.to = values_[p + 1] + half * far;
    if (half * scale_ < least_gap) left.from = right.from = inf;
  }
  for (std::size_t p = 0; p < values_.size(); ++p) of_centroids_[at(numbers_[p])] = order_[p];
}

void Line::set_buckets() {
  constexpr std::size_t for_each_stretch = 4;
  buckets_.assign(for_each_stretch * order_.size() + 1, 0);
  least_ = values_.front();
  if (values_.size() > 1) per_unit_ = static_cast<double>(buckets_.size() - 1) / (values_.back() - values_.front());
  // No stretch before the first one whose end has the bucket b holds a number that has it.
  std::size_t next = 0;
  for (std::size_t p = 0; p < order_.size(); ++p)
    for (const std::size_t last = p + 1 < order_.size() ? bucket(order_[p].to) : buckets_.size() - 1; next <= last;)
      buckets_[next++] = static_cast<std::uint32_t>(p);
}

std::int32_t Line::decide(double x) const {
  const double row = x * shrink_, factor = scale_ / shrink_;
  const auto centroid = [this](std::size_t p) { return values_[p] * shrink_; };
  const auto distance = [&](std::size_t p) {
    const double c = centroid(p);
    return squared_distance<double>(&row, &c, 1, factor);
  };
  const std::size_t count = values_.size();
  const auto above = at(std::lower_bound(values_.begin(), values_.end(), x) - values_.begin());
  double least = std::numeric_limits<double>::infinity();
  if (above < count) least = distance(above);
  if (above > 0) least = std::min(least, distance(above - 1));
  const double limit = least * (1 + 4 * 0x1p-51);
  // Rounded differences grow with the place, too.
  std::size_t first = above, last = above;
  while (first > 0 && !(distance(first - 1) > limit)) --first;
  while (last < count && !(distance(last) > limit)) ++last;
  if (last - first == 1) return numbers_[first];
  const auto twofold = [&](std::size_t p) {
    const double c = centroid(p);
    return twofold_squared_distance(&row, &c, 1, factor);
  };
  Twofold nearest = twofold(first);
  for (std::size_t p = first + 1; p < last; ++p)
    if (const Twofold other = twofold(p); (other - nearest).hi < 0) nearest = other;
  std::int32_t label = std::numeric_limits<std::int32_t>::max();
  for (std::size_t p = first; p < last; ++p)
    if (!((twofold(p) - nearest).hi > twofold_tie(1) * nearest.hi)) label = std::min(label, numbers_[p]);
  return label;
}

namespace {

class LinePass {
 public:
  LinePass(const AssignArguments& of)
      : of_(of), x_(of.x), line_(of.centroids, of.moments), shift_(of.moments.shift.front()) {}

  struct Scratch {
    std::vector<double> x;
    std::vector<index_t> unproven;
    AssignStats stats;
    ClusterSums* sums = nullptr;
  };
  [[nodiscard]] Scratch scratch() const {
    Scratch s;
    s.x.resize(at(chunk_rows)), s.unproven.resize(at(chunk_rows) + 1);
    return s;
  }

  /// Labels of `count` rows from row i0 on, at most chunk_rows.
  void piece(index_t i0, index_t count, Scratch& s) const {
    load(i0, count, s.x.data());
    const std::int32_t* const labels = of_.labels.data + i0;
    index_t unproven = 0;
    for (index_t r = 0; r < count; ++r) {
      s.unproven[at(unproven)] = r;
      unproven += line_.stretch_of(labels[r]).has(s.x[at(r)]) ? 0 : 1;
    }
    for (index_t q = 0; q < unproven; ++q) {
      const index_t r = s.unproven[at(q)];
      decide(i0 + r, s.x[at(r)], s);
    }
  }

 private:
  void load(index_t i0, index_t count, double* out) const {
    by_real_type(x_.type(), [&]<class T>(std::type_identity<T>) {
      const T* const values = static_cast<const T*>(x_.values()) + i0 * x_.row_stride();
      for (index_t r = 0; r < count; ++r) out[r] = to_wide(values[r * x_.row_stride()]);
    });
    if (!x_.has_scale()) return;
    for (index_t r = 0; r < count; ++r) out[r] *= x_.scale(i0 + r);
  }

  void decide(index_t i, double x, Scratch& s) const {
    std::int32_t nearest = line_.find(x);
    if (nearest < 0) nearest = line_.decide(x), ++s.stats.rescored;
    relabel(of_, i, nearest, s.stats, [&](std::int32_t label, double weight) {
      const double v = x - shift_;
      if (label >= 0) s.sums->add(*of_.unit, label, &v, weight, true);
      s.sums->add(*of_.unit, nearest, &v, weight);
    });
  }

  const AssignArguments& of_;
  const Rows& x_;
  Line line_;
  double shift_;
};

}  // namespace

AssignStats assign_line(const Context& ctx, const AssignArguments& of) {
  constexpr double products_of_row = 16;
  return run_pass(ctx, of, LinePass(of), {chunk_rows, products_of_row}, "line");
}

}  // namespace ts::inline v0::assign_detail
