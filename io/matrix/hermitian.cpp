#include "tallskinny/io/hermitian.hpp"

#include <algorithm>
#include <vector>

#include "tallskinny/gemm/core/convert.hpp"
#include "tallskinny/io/matrix/assembly.hpp"

namespace ts::inline v0::io {

template <class T>
std::optional<Asymmetry> first_asymmetry(CsrView<T> a, Structure structure) {
  if (a.rows != a.cols) return Asymmetry{a.rows - 1, a.cols - 1};
  if (structure == Structure::general) return std::nullopt;
  // Rows are visited in order and every row's columns too, so row i meets its images of row j in the order of
  // j: one cursor for each row finds the partner of an entry without a search. Stored zeros may lack one.
  std::vector<index_t> cursor(a.pointers, a.pointers + a.rows);
  std::optional<Asymmetry> found;
  const auto report = [&](index_t i, index_t j) {
    if (!found || i < found->row || (i == found->row && j < found->col)) found = Asymmetry{i, j};
  };
  index_t visited = 0;
  for (; visited < a.rows && !(found && found->row < visited); ++visited) {
    const index_t i = visited;
    for (index_t k = a.pointers[i]; k < a.pointers[i + 1]; ++k) {
      const index_t j = a.indices[k];
      index_t& c = cursor[static_cast<std::size_t>(j)];
      // Entries of row j left of column i that nobody asked for have no partner in their rows.
      for (; c < a.pointers[j + 1] && a.indices[c] < i; ++c)
        if (a.values[c] != T{}) report(std::min<index_t>(j, a.indices[c]), std::max<index_t>(j, a.indices[c]));
      const bool there = c < a.pointers[j + 1] && a.indices[c] == i;
      const T partner = there ? a.values[c++] : T{};
      if (a.values[k] != mirror_image(partner, structure)) report(std::min(i, j), std::max(i, j));
    }
  }
  for (index_t j = 0; j < a.rows; ++j)  // left of the visited columns: entries without a partner
    for (index_t c = cursor[static_cast<std::size_t>(j)]; c < a.pointers[j + 1] && a.indices[c] < visited; ++c)
      if (a.values[c] != T{}) report(std::min<index_t>(j, a.indices[c]), std::max<index_t>(j, a.indices[c]));
  return found;
}

template <class T>
std::optional<Asymmetry> first_asymmetry(HostView<const T> a, Structure structure) {
  if (a.rows() != a.cols()) return Asymmetry{a.rows() - 1, a.cols() - 1};
  if (structure == Structure::general) return std::nullopt;
  constexpr index_t tile = 64;
  std::optional<Asymmetry> found;
  for (index_t ib = 0; ib < a.rows() && !found; ib += tile)
    for (index_t jb = ib; jb < a.cols(); jb += tile)
      for (index_t i = ib; i < std::min(ib + tile, a.rows()); ++i)
        for (index_t j = std::max(jb, i); j < std::min(jb + tile, a.cols()); ++j)
          if (widened(a(i, j)) != mirror_image(widened(a(j, i)), structure)) {
            if (!found || i < found->row || (i == found->row && j < found->col)) found = Asymmetry{i, j};
            break;
          }
  return found;
}

#define TS_INSTANTIATE(T) template std::optional<Asymmetry> first_asymmetry<T>(CsrView<T>, Structure);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
#define TS_INSTANTIATE(T) template std::optional<Asymmetry> first_asymmetry<T>(HostView<const T>, Structure);
TS_FOR_EACH_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::io
