#include "tallskinny/solvers/ranks/steps_ahead.hpp"

#include <algorithm>
#include <complex>
#include <numeric>

namespace ts::inline v0::solvers {

namespace {

constexpr index_t most_steps_ahead = 8;  // spmm takes no more in one pass

/// The longest run of rows within `rows` for which holds(row).
template <class Holds>
StepRows longest_run(StepRows rows, const Holds& holds) {
  StepRows longest{rows.begin, rows.begin};
  for (index_t i = rows.begin; i < rows.end; ++i) {
    const index_t begin = i;
    while (i < rows.end && holds(i)) ++i;
    if (i - begin > longest.count()) longest = {begin, i};
  }
  return longest;
}

/// For each row, the first and the last of the rows that it reads or that read it.
struct Neighbours {
  std::vector<std::int32_t> first, last;
  explicit Neighbours(index_t rows) : first(static_cast<std::size_t>(rows)) {
    std::iota(first.begin(), first.end(), 0);
    last = first;
  }
  void meet(std::int32_t i, std::int32_t j) {
    auto& low = first[static_cast<std::size_t>(i)];
    auto& high = last[static_cast<std::size_t>(i)];
    low = std::min(low, j), high = std::max(high, j);
  }
  [[nodiscard]] bool lie_in(StepRows rows, index_t i) const {
    return first[static_cast<std::size_t>(i)] >= rows.begin && last[static_cast<std::size_t>(i)] < rows.end;
  }
};

}  // namespace

double StepsAhead::passes() const noexcept {
  if (rows == 0 || of_step.empty()) return 1;
  index_t passing = rows;
  for (std::size_t k = 1; k < of_step.size(); ++k) passing += rows - of_step[k].count();
  return static_cast<double>(passing) / static_cast<double>(rows * count());
}

std::string to_text(const StepsAhead& ahead) {
  std::string text = std::to_string(ahead.count()) + " steps in one pass of " + std::to_string(ahead.rows) + " rows";
  for (const StepRows& rows : ahead.of_step)
    text += ", " + std::to_string(rows.begin) + " to " + std::to_string(rows.end);
  return text;
}

template <class T>
StepsAhead steps_ahead(const CsrView<T>& inner, std::span<const std::int32_t> bound,
                       std::span<const std::int32_t> read) {
  StepsAhead ahead{inner.rows, {{0, inner.rows}}};
  std::vector<bool> is_bound(static_cast<std::size_t>(inner.rows));
  for (const std::int32_t i : bound) is_bound[static_cast<std::size_t>(i)] = true;
  StepRows now = longest_run({0, inner.rows}, [&](index_t i) { return !is_bound[static_cast<std::size_t>(i)]; });
  if (now.count() == 0) return ahead;

  Neighbours neighbours(inner.rows);
  for (std::int32_t i = 0; i < inner.rows; ++i)
    for (index_t e = inner.pointers[i]; e < inner.pointers[i + 1]; ++e)
      neighbours.meet(i, inner.indices[e]), neighbours.meet(inner.indices[e], i);
  for (const std::int32_t i : read) neighbours.meet(i, -1);

  // A row is a step ahead where all that it reads has been, and all that reads what it replaces, too.
  StepsAhead longer{inner.rows, {now}};
  while (longer.count() < most_steps_ahead && now.count() > 0) {
    const StepRows before = now;
    now = longest_run(before, [&](index_t i) { return neighbours.lie_in(before, i); });
    longer.of_step.push_back(now);
    if (longer.passes() < ahead.passes()) ahead = longer;
  }
  return ahead;
}

TS_FOR_EACH_RESULT_TYPE(TS_FUNCTION, steps_ahead)

}  // namespace ts::inline v0::solvers
