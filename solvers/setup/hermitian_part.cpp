#include "tallskinny/solvers/setup/hermitian_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Mean of an entry and its mirror image. Halves first: a sum may overflow.
template <class T>
T mean(T here, T image) {
  const T other = conjugate(image);
  return here == other ? here : 0.5 * here + 0.5 * other;
}

/// The entries of both rows in the order of their columns, 0 where one has none.
template <class T>
void merge_row(const CsrMatrix<T>& a, const CsrMatrix<T>& b, index_t i, CsrMatrix<T>& out) {
  index_t p = a.pointers[at(i)], q = b.pointers[at(i)];
  const index_t end = a.pointers[at(i) + 1], end_b = b.pointers[at(i) + 1];
  while (p < end || q < end_b) {
    const bool from_a = p < end && (q == end_b || a.indices[at(p)] <= b.indices[at(q)]);
    const bool from_b = q < end_b && (p == end || b.indices[at(q)] <= a.indices[at(p)]);
    out.indices.push_back(from_a ? a.indices[at(p)] : b.indices[at(q)]);
    out.values.push_back(mean(from_a ? a.values[at(p)] : T{}, from_b ? b.values[at(q)] : T{}));
    p += from_a ? 1 : 0, q += from_b ? 1 : 0;
  }
}

template <class T>
void take_part(CsrMatrix<T>& rows, const CsrMatrix<T>& partners) {
  if (rows.pointers == partners.pointers && rows.indices == partners.indices) {
    for (std::size_t e = 0; e < rows.values.size(); ++e) rows.values[e] = mean(rows.values[e], partners.values[e]);
    return;
  }
  CsrMatrix<T> out{rows.rows, rows.cols, {0}, {}, {}};
  out.pointers.reserve(at(rows.rows) + 1);
  const std::size_t more = rows.values.size() + rows.values.size() / 8;
  out.indices.reserve(more), out.values.reserve(more);
  for (index_t i = 0; i < rows.rows; ++i) {
    merge_row(rows, partners, i, out);
    out.pointers.push_back(std::ssize(out.indices));
  }
  rows = std::move(out);
}

template <class T>
void take_part(Matrix<T>& rows, const Matrix<T>& partners) {
  for (index_t i = 0; i < rows.rows(); ++i)
    for (index_t j = 0; j < rows.cols(); ++j) rows(i, j) = mean(rows(i, j), partners(i, j));
}

/// The position of entry (i, j), or -1.
template <class T>
index_t position(const CsrMatrix<T>& a, index_t i, index_t j) {
  const auto begin = a.indices.begin() + a.pointers[at(i)], end = a.indices.begin() + a.pointers[at(i) + 1];
  const auto found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? found - a.indices.begin() : -1;
}

template <class T>
void take_part(CsrMatrix<T>& a) {
  const auto each_pair = [&a](const auto& use) {
    for (index_t i = 0; i < a.rows; ++i)
      for (index_t e = a.pointers[at(i)]; e < a.pointers[at(i) + 1]; ++e)
        if (!use(e, position(a, a.indices[at(e)], i))) return false;
    return true;
  };
  if (!each_pair([](index_t, index_t image) { return image >= 0; })) return take_part<T>(a, transposed(a.view()));
  each_pair([&a](index_t e, index_t image) {
    if (image < e) return true;  // was seen from the other side
    const T here = mean(a.values[at(e)], a.values[at(image)]);
    a.values[at(e)] = here, a.values[at(image)] = conjugate(here);
    return true;
  });
}

template <class T>
void take_part(Matrix<T>& a) {
  constexpr index_t tile = 64;
  for (index_t ib = 0; ib < a.rows(); ib += tile)
    for (index_t jb = ib; jb < a.cols(); jb += tile)
      for (index_t i = ib; i < std::min(ib + tile, a.rows()); ++i)
        for (index_t j = std::max(jb, i); j < std::min(jb + tile, a.cols()); ++j)
          a(i, j) = mean(a(i, j), a(j, i)), a(j, i) = conjugate(a(i, j));
}

std::string short_text(double share) {
  std::array<char, 32> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.2g", share);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

}  // namespace

template <class T>
void take_hermitian_part(AnyMatrix<T>& a) {
  std::visit([](auto& kind) { take_part(kind); }, a);
}

template <class T>
void take_hermitian_part(AnyMatrix<T>& rows, const AnyMatrix<T>& partners) {
  std::visit([&](auto& own) { take_part(own, std::get<std::decay_t<decltype(own)>>(partners)); }, rows);
}

std::string text_of(const SkewPart& dropped, const std::string& name, bool by_name) {
  if (dropped.is_zero()) return by_name ? name + " is Hermitian as it is: `symmetrise` changes nothing" : "";
  const std::string far =
      ", whose entries differ from their mirror images by up to " + short_text(dropped.largest) + " of the largest";
  return by_name ? "(A + A^H) / 2 is solved in the place of " + name + far + ", as `symmetrise` asks"
                 : "(A + A^H) / 2 is solved in the place of " + name + far +
                       ", as rounding leaves them; error bounds count the difference";
}

template <class T>
void count_dropped(const Context& ctx, Dropped dropped, bool pencil, EigenResult<T>& result) {
  if (dropped.matrix == 0 && dropped.mass == 0) return;
  double squares = pencil ? 0 : 1;
  if (pencil) {
    std::vector<double> lengths(result.values.size());
    column_norms(ctx, result.vectors.cview(), std::span<double>(lengths));
    for (const double x : lengths) squares = std::max(squares, x * x);
  }
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double moved = (dropped.matrix + std::abs(result.values[i]) * dropped.mass) * squares;
    result.error_bounds[i] += moved;
    double& angle = result.vector_errors[i];
    const double rounding = i < result.value_roundings.size() ? result.value_roundings[i] : 0;
    const double residual = result.residual_norms[i] + rounding;
    const double gap = residual / angle - moved;
    angle = gap > 0 ? (residual + moved) / gap : nan;
    if (!(angle < 1)) angle = nan;
  }
}

#define TS_INSTANTIATE(T)                              \
  template void take_hermitian_part<T>(AnyMatrix<T>&); \
  template void take_hermitian_part<T>(AnyMatrix<T>&, const AnyMatrix<T>&);
TS_FOR_EACH_SOLVER_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_SOLVER_TYPE(TS_FUNCTION, count_dropped)

}  // namespace ts::inline v0::solvers
