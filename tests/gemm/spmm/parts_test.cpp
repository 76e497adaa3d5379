// Matrices cut into parts of equal work.
#include "tallskinny/gemm/runtime/gpu/device_csr.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts;

namespace {

using Pointers = std::vector<index_t>;

Pointers pointers_of(const std::vector<index_t>& lengths) {
  Pointers pointers = {0};
  for (const index_t length : lengths) pointers.push_back(pointers.back() + length);
  return pointers;
}

/// Rows of one length, none at all, empty ones around a long one, a few lengths by turns, one row of many parts.
std::vector<Pointers> matrices() {
  std::vector<index_t> by_turns, sparse(5000, 0);
  for (index_t i = 0; i < 3000; ++i) by_turns.push_back(i % 7 * (i % 11) * (i % 3));
  sparse[1234] = 20000, sparse[1235] = 1, sparse[4999] = csr_part;
  std::vector<Pointers> all = {Pointers{0}, pointers_of(sparse), pointers_of(by_turns), pointers_of({100000})};
  for (const index_t length : {0, 1, 16, csr_part - 2, csr_part - 1, csr_part, csr_part + 1, 1000})
    all.push_back(pointers_of(std::vector<index_t>(500, length)));
  return all;
}

}  // namespace

TEST_CASE("parts hold equal work, each row ends in one of them, and split rows are what parts leave") {
  for (const Pointers& pointers : matrices()) {
    const auto rows = static_cast<index_t>(pointers.size()) - 1, units = rows + pointers.back();
    CAPTURE(rows, pointers.back());
    const cuda::CutRows cut = cuda::cut_rows(pointers.data(), rows);
    const auto count = static_cast<index_t>(cut.cuts.size()) - 1;
    REQUIRE(count == csr_part_count(rows, pointers.back()));
    CHECK((cut.cuts.front() == 0 && cut.cuts.back() == rows));
    std::vector<SplitRow> splits;
    for (index_t part = 0; part < count; ++part) {
      const index_t begin = part * csr_part, end = std::min(units, begin + csr_part);
      const index_t row = cut.cuts[static_cast<std::size_t>(part)], next = cut.cuts[static_cast<std::size_t>(part) + 1];
      CHECK(next == rows_ended(pointers.data(), 0, rows, end));
      const index_t entry = begin - row, entry_end = end - next;  // of the units, those that are no ends of rows
      const auto at = [&](index_t r) { return pointers[static_cast<std::size_t>(r)]; };
      CHECK((entry <= entry_end && entry_end <= pointers.back()));
      CHECK((row == rows || (at(row) <= entry && entry <= at(row + 1))));
      CHECK((next == row || at(next) <= entry_end));
      if (next == rows || at(next) >= entry_end) continue;  // leaves nothing
      if (at(next) >= entry)
        splits.push_back({next, part, 1});
      else
        ++splits.back().count;
    }
    const auto is_long = [](const SplitRow& split) { return split.count > few_parts; };
    CHECK(cut.long_splits == std::count_if(splits.begin(), splits.end(), is_long));
    std::stable_partition(splits.begin(), splits.end(), is_long);
    REQUIRE(splits.size() == cut.splits.size());
    for (std::size_t k = 0; k < splits.size(); ++k)
      CHECK((splits[k].row == cut.splits[k].row && splits[k].first == cut.splits[k].first &&
             splits[k].count == cut.splits[k].count));
  }
}

TEST_CASE("teams share all entries of a part") {
  for (int teams = 1; teams <= 32; teams *= 2)
    for (int entries = 0; entries <= csr_part; ++entries) CHECK(teams * team_share(entries, teams) >= entries);
}

TEST_CASE("facts tell of the lengths of rows") {
  const Pointers even = pointers_of(std::vector<index_t>(100, 16)), uneven = pointers_of({1, 1, 1, 1, 96});
  const auto facts = [](const Pointers& p) {
    const auto rows = static_cast<index_t>(p.size()) - 1;
    return cuda::facts_of_rows(p.data(), rows, cuda::cut_rows(p.data(), rows));
  };
  CHECK((facts(even).longest == 16 && facts(even).uneven == 0 && facts(even).parts == 8));
  CHECK((facts(uneven).longest == 96 && facts(uneven).uneven == 380));
  CHECK(facts(pointers_of({16, 16, 16, 16, 16, 16, 16, 16, 1, 1, 1, 1, 1, 1, 1, 1})).uneven == 0);
}

TEST_CASE("scattered columns are told from near ones") {
  const auto scattered = [](index_t rows, index_t apart) {
    return cuda::ColumnSample::scattered(rows, [apart](index_t i, auto&& add) {
      for (index_t k = 0; k < 16; ++k) add((i + k) * apart);
    });
  };
  CHECK(scattered(10000, 1) <= 2);
  CHECK(scattered(100, 8) == 100 * 115 / 1600);
  CHECK(scattered(0, 1) == 0);
}
