#include "tallskinny/solvers/ranks/csr_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "tallskinny/gemm/comm/agree.hpp"
#include "tallskinny/gemm/runtime/run_where.hpp"
#include "tallskinny/gemm/runtime/threads/parallel.hpp"
#include "tallskinny/solvers/ranks/halo_detail.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Copies of rows pass by many threads where they are long or many.
template <class T, class Copy>
void copy_rows(const Context& ctx, index_t count, index_t cols, const Copy& copy) {
  const bool few = count * cols * static_cast<index_t>(sizeof(T)) < (1 << 20);
  parallel_for(few ? 1 : ctx.thread_count(), count, copy);
}

/// to[i] = from[rows[i]]
template <class T, class View>
void take_rows(const Context& ctx, View from, std::span<const std::int32_t> rows, HostView<T> to) {
  copy_rows<T>(ctx, std::ssize(rows), to.cols(), [&](index_t i) {
    const T* const source = &from(rows[static_cast<std::size_t>(i)], 0);
    std::copy(source, source + to.cols(), &to(i, 0));
  });
}

}  // namespace

template <class T>
template <class I>
CsrRows<T>::CsrRows(const Context& ctx, CsrMatrix<T, I> own) {
  detail::expect_own(ctx, own.rows, own.cols);
  const auto view = own.view();
  const detail::SomeRows<T, I> some{view, 0, own.rows, first_row(ctx)};
  RankShare share;
  const std::vector<index_t> halo = detail::halo_of(some, share);
  expects(own.rows + share.halo <= std::numeric_limits<std::int32_t>::max(),
          "a rank's rows of a sparse matrix and the columns that they need from other ranks are more than 2^31 - 1");
  facts_ = own.rows > 0
               ? gershgorin(view, some.first)
               : OperatorFacts{0, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

  std::vector<std::int32_t> place(static_cast<std::size_t>(own.rows), -1);  // of a row of X in what outer_ reads
  std::vector<bool> is_outer(place.size());
  for (index_t i = 0; i < own.rows; ++i)
    for (index_t e = own.pointers[static_cast<std::size_t>(i)]; e < own.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      if (!some.here(own.indices[static_cast<std::size_t>(e)])) {
        is_outer[static_cast<std::size_t>(i)] = true;
        place[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(outer_rows_.size());
        outer_rows_.push_back(static_cast<std::int32_t>(i));
        break;
      }
  for (const std::int32_t i : outer_rows_)
    for (index_t e = own.pointers[static_cast<std::size_t>(i)]; e < own.pointers[static_cast<std::size_t>(i) + 1]; ++e)
      if (const auto j = static_cast<index_t>(own.indices[static_cast<std::size_t>(e)]); some.here(j))
        if (auto& at = place[static_cast<std::size_t>(j - some.first)]; at < 0)
          at = 0, others_.push_back(static_cast<std::int32_t>(j - some.first));
  std::sort(others_.begin(), others_.end());
  const auto below = static_cast<std::int32_t>(outer_rows_.size() + others_.size());
  for (std::size_t k = 0; k < others_.size(); ++k)
    place[static_cast<std::size_t>(others_[k])] = static_cast<std::int32_t>(outer_rows_.size() + k);

  // Outer rows go to outer_; what is left moves together, in its place where column numbers have 32 bits.
  if constexpr (std::is_same_v<I, std::int32_t>)
    inner_.indices = std::move(own.indices);
  else
    inner_.indices.resize(own.indices.size());
  inner_.values = std::move(own.values), inner_.pointers = std::move(own.pointers);
  const I* const columns = [&] {
    if constexpr (std::is_same_v<I, std::int32_t>)
      return inner_.indices.data();
    else
      return own.indices.data();
  }();
  std::size_t kept = 0;
  index_t begin = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const index_t end = inner_.pointers[i + 1];
    for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e) {
      const auto j = static_cast<index_t>(columns[e]);
      if (!is_outer[i]) {
        inner_.indices[kept] = static_cast<std::int32_t>(j - some.first), inner_.values[kept] = inner_.values[e];
        ++kept;
        continue;
      }
      const auto local = some.here(j) ? index_t{place[static_cast<std::size_t>(j - some.first)]}
                                      : below + (std::lower_bound(halo.begin(), halo.end(), j) - halo.begin());
      outer_.indices.push_back(static_cast<std::int32_t>(local)), outer_.values.push_back(inner_.values[e]);
    }
    if (is_outer[i]) outer_.pointers.push_back(std::ssize(outer_.indices));
    inner_.pointers[i + 1] = static_cast<index_t>(kept), begin = end;
  }
  inner_.indices.resize(kept), inner_.values.resize(kept);
  inner_.rows = inner_.cols = some.rows;
  outer_.rows = std::ssize(outer_rows_), outer_.cols = below + share.halo;

  meet(ctx, halo);
  std::vector<std::int32_t> bound = sent_;
  bound.insert(bound.end(), outer_rows_.begin(), outer_rows_.end());
  ahead_ = steps_ahead(inner_.view(), bound, others_);
  reach_ = reach_of(inner_.view());
  share.sent = std::ssize(sent_);
  shares_ = {static_cast<index_t>(sizeof(T)), gather_lists<RankShare>(ctx, std::span(&share, 1))};
  facts_ = {shares_.entries(), min_of_ranks(ctx, facts_.low), max_of_ranks(ctx, facts_.high)};
  const index_t all = all_rows(ctx, some.rows);
  if (all == 0) facts_ = {0, 0, 0};
  if (ctx.stream)
    there_ = std::make_shared<DeviceCsrRows<T>>(
        ctx, HaloParts<T>{inner_.view(), outer_.view(), outer_rows_, others_, sent_, to_, from_,
                          std::max<index_t>(1, facts_.entries / std::max<index_t>(1, all))});
}

/// Sends each owner of columns of the halo the numbers of the rows to send.
template <class T>
void CsrRows<T>::meet(const Context& ctx, const std::vector<index_t>& halo) {
  const auto ranks = static_cast<std::size_t>(ctx.communicator->size());
  if (ranks == 1) return;
  const auto here = static_cast<std::size_t>(ctx.communicator->rank());
  const std::vector<index_t> cuts = detail::cut_by_ranks(halo, ctx.slabs);
  std::vector<index_t> wanted;
  for (std::size_t r = 0; r < ranks; ++r) wanted.push_back(cuts[r + 1] - cuts[r]);
  const std::vector<index_t> all = gather_lists<index_t>(ctx, wanted);  // row r: what rank r wants from each
  index_t asked = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (wanted[r] > 0) from_.push_back({static_cast<int>(r), cuts[r], wanted[r]});
    const index_t count = all[r * ranks + here];
    if (count > 0) to_.push_back({static_cast<int>(r), asked, count});
    asked += count;
  }
  std::vector<index_t> lists(static_cast<std::size_t>(asked));
  const auto [out, in] = detail::halo_pieces<index_t>(from_, halo.data(), to_, lists.data(), 1);
  ctx.communicator->begin_exchange(out, in)->wait();
  const index_t first = first_row(ctx);
  for (const index_t row : lists) sent_.push_back(static_cast<std::int32_t>(row - first));
}

/// inner() is a product with inner_ while the halo is under way, outer(X, Y) then one with outer_ and copies.
/// `adds`: it reads Y.
template <class T>
template <class X, class Inner, class Outer>
void CsrRows<T>::in_two_parts(const Context& ctx, X x, HostView<T> y, bool adds, const Inner& inner,
                              const Outer& outer) const {
  expects(ctx.communicator->size() == static_cast<int>(shares_.ranks.size()),
          "a matrix by rows takes a Context of the ranks that made it");
  const index_t cols = y.cols();
  if (cols == 0) return;
  expects(x.rows() == rows() && x.cols() == cols && y.rows() == rows(),
          "a matrix by rows takes blocks X and Y of this rank's rows and as many columns as each other");
  const index_t below = std::ssize(outer_rows_) + std::ssize(others_), halo = outer_.cols - below;
  // The sum over a single column rounds otherwise where rows have gaps between them: copies have the gaps of X and Y,
  // so that bits do not depend on ranks.
  const auto gap_of = [](const auto& block) { return block.cols() == 1 && block.ld() > 1 ? index_t{1} : index_t{0}; };
  const index_t gap = gap_of(x);
  Matrix<T> sent(std::ssize(sent_), cols), copies(outer_.cols, cols + gap), arriving(gap > 0 ? halo : 0, cols),
      results(outer_.rows, cols + gap_of(y));
  const HostView<T> from = copies.view().cols(0, cols), to = results.view().cols(0, cols);
  T* const halo_begins = gap > 0 ? arriving.data() : copies.data() + below * cols;
  take_rows<T>(ctx, x, sent_, sent.view());
  const auto [out, in] = detail::halo_pieces<T>(to_, sent.data(), from_, halo_begins, cols);
  const std::unique_ptr<Exchange> exchange = ctx.communicator->begin_exchange(out, in);
  take_rows<T>(ctx, x, outer_rows_, from);
  take_rows<T>(ctx, x, others_, from.rows(outer_.rows, std::ssize(others_)));
  if (adds) take_rows<T>(ctx, y, outer_rows_, to);
  inner();
  exchange->wait();
  if (outer_.rows == 0) return;
  for (index_t i = 0; i < arriving.rows(); ++i) from(below + i, 0) = arriving(i, 0);
  outer(X(from), to);
  copy_rows<T>(ctx, outer_.rows, cols, [&](index_t i) {
    std::copy(&to(i, 0), &to(i, 0) + cols, &y(outer_rows_[static_cast<std::size_t>(i)], 0));
  });
}

template <class T>
void CsrRows<T>::apply(const Context& ctx, HostView<const T> x, HostView<T> y) const {
  in_two_parts(
      ctx, x, y, false, [&] { spmm(ctx, Op::none, T{1}, inner_.view(), x, T{0}, y); },
      [&](HostView<const T> from, HostView<T> to) { spmm(ctx, Op::none, T{1}, outer_.view(), from, T{0}, to); });
}

template <class T>
bool CsrRows<T>::recurrence(const Context& ctx, index_t count, double alpha, double shift, HostView<T> x, double beta,
                            HostView<T> y) const {
  using R = real_t<T>;
  const auto steps = [&](const CsrView<T>& a, std::span<const StepRows> rows, HostView<T> from, HostView<T> to) {
    spmm_recurrence(ctx, rows, static_cast<R>(alpha), a, static_cast<R>(shift), from, static_cast<R>(beta), to);
  };
  CsrView<T> inner = inner_.view();
  inner.facts.reach = reach_;
  const index_t most = std::min(ahead_.count(), steps_together(ctx, inner, x.cols()));
  for (index_t k = 0, together = 0; count > 0; --count, ++k, std::swap(x, y)) {
    if (k == together) k = 0, together = std::min(count, most);
    in_two_parts(
        ctx, x, y, beta != 0,
        [&] {
          const StepRows all{0, rows()}, ahead = ahead_.of_step[static_cast<std::size_t>(k)];
          if (together == 1) return steps(inner, std::array{all}, x, y);
          if (k == 0) steps(inner, std::span(ahead_.of_step).first(static_cast<std::size_t>(together)), x, y);
          for (const StepRows left : {StepRows{all.begin, ahead.begin}, StepRows{ahead.end, all.end}})
            if (left.count() > 0) steps(inner, std::array{left}, x, y);
        },
        [&](HostView<T> from, HostView<T> to) {
          steps(outer_.view(), std::array{StepRows{0, outer_.rows}}, from, to);
        });
  }
  return true;
}

template <class T>
void CsrRows<T>::residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta,
                          PlacedView<T> r) const {
  run_where(
      ctx, r.space(),
      [&](auto at, auto values) {
        if constexpr (decltype(at)::space == Space::device)
          there_->residual(ctx, at(x), values, at(r));
        else
          in_two_parts(
              ctx, at(x), at(r), false, [&] { compensated_residual(ctx, inner_.view(), at(x), theta, at(r)); },
              [&](HostView<const T> from, HostView<T> to) {
                compensated_residual(ctx, outer_.view(), from, theta, to);
              });
      },
      In<double>{HostView<const double>(theta.data(), 1, std::ssize(theta))});
}

template <class T>
void CsrRows<T>::apply(const Context& ctx, DeviceView<const T> x, DeviceView<T> y) const {
  there_->apply(ctx, x, y);
}

template <class T>
bool CsrRows<T>::update(const Context& ctx, T alpha, double shift, DeviceView<const T> x, T beta,
                        DeviceView<T> y) const {
  there_->update(ctx, alpha, T{static_cast<real_t<T>>(shift)}, x, beta, y);
  return true;
}

template <class T>
bool CsrRows<T>::recurrence(const Context& ctx, index_t count, double alpha, double shift, DeviceView<T> x, double beta,
                            DeviceView<T> y) const {
  using R = real_t<T>;
  for (; count > 0; --count, std::swap(x, y))
    there_->update(ctx, T{static_cast<R>(alpha)}, T{static_cast<R>(shift)}, x, T{static_cast<R>(beta)}, y);
  return true;
}

#define TS_INSTANTIATE(T)                                                       \
  template CsrRows<T>::CsrRows(const Context&, CsrMatrix<T, std::int32_t> own); \
  template CsrRows<T>::CsrRows(const Context&, CsrMatrix<T, std::int64_t> own);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE
TS_FOR_EACH_RESULT_TYPE(TS_CLASS, CsrRows)

}  // namespace ts::inline v0::solvers
