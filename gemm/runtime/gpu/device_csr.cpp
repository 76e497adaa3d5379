#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"

#include <algorithm>

namespace ts::inline v0::cuda {

CutRows cut_rows(const index_t* pointers, index_t rows) {
  CutRows cut;
  const index_t units = rows + pointers[rows], count = csr_part_count(rows, pointers[rows]);
  cut.cuts.reserve(static_cast<std::size_t>(count) + 1);
  cut.cuts.push_back(0);
  for (index_t part = 1; part <= count; ++part) {
    const index_t before = cut.cuts.back();
    cut.cuts.push_back(
        rows_ended(pointers, before, std::min(rows, before + csr_part), std::min(units, part * csr_part)));
  }
  const auto first_entry = [&](index_t part) {
    return std::min(units, part * csr_part) - cut.cuts[static_cast<std::size_t>(part)];
  };
  for (index_t part = 0; part < count; ++part) {
    const index_t row = cut.cuts[static_cast<std::size_t>(part) + 1];  // the first one that does not end in this part
    if (row == rows || pointers[row] < first_entry(part) || pointers[row] >= first_entry(part + 1)) continue;
    index_t end = part + 1;
    while (cut.cuts[static_cast<std::size_t>(end) + 1] == row) ++end;
    cut.splits.push_back({row, part, end - part});
  }
  const auto is_long = [](const SplitRow& split) { return split.count > few_parts; };
  cut.long_splits = std::stable_partition(cut.splits.begin(), cut.splits.end(), is_long) - cut.splits.begin();
  return cut;
}

SparseFacts facts_of_rows(const index_t* pointers, index_t rows, const CutRows& cut) {
  SparseFacts facts;
  facts.parts = csr_part_count(rows, pointers[rows]);
  facts.splits = static_cast<index_t>(cut.splits.size()), facts.long_splits = cut.long_splits;
  constexpr index_t together = 8;
  index_t in_step = 0;  // entries, were rows as long as the longest beside them
  for (index_t first = 0; first < rows; first += together) {
    const index_t end = std::min(rows, first + together);
    index_t longest = 0;
    for (index_t i = first; i < end; ++i) longest = std::max(longest, pointers[i + 1] - pointers[i]);
    in_step += longest * (end - first);
    facts.longest = std::max(facts.longest, longest);
  }
  if (const index_t entries = pointers[rows]; entries > 0)
    facts.uneven = static_cast<int>(100.0 * static_cast<double>(in_step - entries) / static_cast<double>(entries));
  return facts;
}

void ColumnSample::end_block() {
  std::sort(groups_.begin(), groups_.end());
  entries_ += static_cast<double>(groups_.size());
  distinct_ += static_cast<double>(std::unique(groups_.begin(), groups_.end()) - groups_.begin());
  groups_.clear();
}

}  // namespace ts::inline v0::cuda
