#include "tallskinny/app/generators/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::generators {

namespace {

std::vector<double> all_sums(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sums;
  sums.reserve(a.size() * b.size());
  for (const double x : a)
    for (const double y : b) sums.push_back(x + y);
  std::sort(sums.begin(), sums.end());
  return sums;
}

/// The k smallest sums x + y of two ascending lists, ascending: row i of the table a_i + b_j is ascending
/// too, so a heap holds the next candidate of each row that has been entered.
std::vector<double> smallest_sums(const std::vector<double>& a, const std::vector<double>& b, std::size_t k) {
  if (k >= a.size() * b.size() / 4) {
    std::vector<double> sums = all_sums(a, b);
    sums.resize(std::min(k, sums.size()));
    return sums;
  }
  struct Candidate {
    double sum;
    std::size_t i, j;
    bool operator>(const Candidate& other) const { return sum > other.sum; }
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
  next.push({a[0] + b[0], 0, 0});
  std::vector<double> sums;
  sums.reserve(k);
  while (sums.size() < k) {
    const auto [sum, i, j] = next.top();
    next.pop();
    sums.push_back(sum);
    if (j == 0 && i + 1 < a.size()) next.push({a[i + 1] + b[0], i + 1, 0});
    if (j + 1 < b.size()) next.push({a[i] + b[j + 1], i, j + 1});
  }
  return sums;
}

std::vector<double> negated(std::vector<double> values) {
  std::reverse(values.begin(), values.end());
  for (double& value : values) value = -value;
  return values;
}

/// The k values that come first by `before`, in ascending order.
template <class Before>
std::vector<double> first_by(std::vector<double> values, index_t k, Before before) {
  std::stable_sort(values.begin(), values.end(), before);
  values.resize(std::min(values.size(), static_cast<std::size_t>(k)));
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

Spectrum::Spectrum(std::vector<double> values) : count_(static_cast<index_t>(values.size())) {
  std::sort(values.begin(), values.end());
  lists_.push_back(std::move(values));
}

Spectrum Spectrum::sum(std::vector<std::vector<double>> lists) {
  Spectrum spectrum;
  spectrum.count_ = 1;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    const auto size = static_cast<index_t>(list.size());
    expects(size == 0 || spectrum.count_ <= INT64_MAX / size, "a spectrum has more than 2^63 values");
    spectrum.count_ *= size;
  }
  spectrum.lists_ = std::move(lists);
  return spectrum;
}

std::vector<double> Spectrum::smallest(index_t k) const {
  expects(k >= 0, "a negative number of eigenvalues was asked for");
  k = std::min(k, count_);
  if (k == 0) return {};
  const auto wanted = static_cast<std::size_t>(k);
  // The k smallest sums need only the k smallest of every partial sum.
  std::vector<double> sums = {0.0};
  for (const auto& list : lists_) {
    const std::vector<double> head(list.begin(), list.begin() + std::min<index_t>(k, std::ssize(list)));
    sums = smallest_sums(sums, head, std::min(wanted, sums.size() * head.size()));
  }
  return sums;
}

std::vector<double> Spectrum::largest(index_t k) const {
  Spectrum mirrored;
  mirrored.count_ = count_;
  for (const auto& list : lists_) mirrored.lists_.push_back(negated(list));
  return negated(mirrored.smallest(k));
}

std::vector<double> Spectrum::largest_magnitude(index_t k) const {
  expects(k >= 0, "a negative number of eigenvalues was asked for");
  if (2 * std::min(k, count_) >= count_)
    return first_by(all(), k, [](double x, double y) { return std::fabs(x) > std::fabs(y); });
  std::vector<double> ends = smallest(k);
  const std::vector<double> top = largest(k);
  ends.insert(ends.end(), top.begin(), top.end());
  return first_by(std::move(ends), k, [](double x, double y) { return std::fabs(x) > std::fabs(y); });
}

std::vector<double> Spectrum::nearest(double sigma, index_t k) const {
  expects(k >= 0, "a negative number of eigenvalues was asked for");
  return first_by(all(), k, [sigma](double x, double y) { return std::fabs(x - sigma) < std::fabs(y - sigma); });
}

std::vector<double> Spectrum::all() const { return smallest(count_); }

}  // namespace ts::generators
