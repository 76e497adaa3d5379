#include "tallskinny/solvers/ranks/row_shares.hpp"

#include <complex>
#include <numeric>

#include "tallskinny/solvers/ranks/halo_detail.hpp"

namespace ts::inline v0::solvers {

index_t RowShares::entries() const noexcept {
  return std::accumulate(ranks.begin(), ranks.end(), index_t{0},
                         [](index_t sum, const RankShare& r) { return sum + r.entries; });
}
index_t RowShares::longest() const noexcept {
  return std::accumulate(ranks.begin(), ranks.end(), index_t{0},
                         [](index_t most, const RankShare& r) { return std::max(most, r.longest); });
}
index_t RowShares::sent_bytes() const noexcept {
  return std::accumulate(ranks.begin(), ranks.end(), index_t{0},
                         [&](index_t sum, const RankShare& r) { return sum + r.sent * element_bytes; });
}

std::string to_text(const RowShares& shares) {
  std::string text;
  for (std::size_t r = 0; r < shares.ranks.size(); ++r) {
    const RankShare& s = shares.ranks[r];
    text += "rank " + std::to_string(r) + ": " + std::to_string(s.rows) + " rows (" + std::to_string(s.outer) +
            " outer), " + std::to_string(s.entries) + " entries, " + std::to_string(s.halo) + " halo columns, sends " +
            std::to_string(s.sent * shares.element_bytes) + " bytes per column\n";
  }
  return text;
}

template <class T, class I>
RowShares row_shares(const CsrView<T, Space::host, I>& whole, const RowSlabs& slabs) {
  expects(whole.rows == whole.cols && !slabs.empty() && slabs.rows() == whole.rows,
          "shares of a matrix by rows: it must be square, with as many rows as the slabs");
  const auto ranks = static_cast<std::size_t>(slabs.slabs());
  RowShares shares{static_cast<index_t>(sizeof(T)), std::vector<RankShare>(ranks)};
  std::vector<index_t> sent(ranks);
  for (int r = 0; r < slabs.slabs(); ++r) {
    const detail::SomeRows<T, I> some{whole, slabs.begin(r), slabs.rows(r), slabs.begin(r)};
    const auto cuts = detail::cut_by_ranks(detail::halo_of(some, shares.ranks[static_cast<std::size_t>(r)]), slabs);
    for (std::size_t owner = 0; owner < ranks; ++owner) sent[owner] += cuts[owner + 1] - cuts[owner];
  }
  for (std::size_t r = 0; r < ranks; ++r) shares.ranks[r].sent = sent[r];
  return shares;
}

TS_FOR_EACH_RESULT_TYPE(TS_INDEXED_FUNCTION, row_shares)
#undef TS_INSTANTIATE_INDEX

}  // namespace ts::inline v0::solvers
