// Any operator on ranks: each applies it to all rows and keeps its own.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/solvers/operator.hpp"

namespace ts::inline v0::solvers {

/// An operator of all n rows, which every rank has, for blocks of which each has the rows that ctx.slabs gives it.
/// Blocks are gathered and every rank computes all of the product: this brings what knows no ranks (a factorisation,
/// a function) to them, and saves neither memory nor time. The bits are those of the operator on one rank.
template <class T>
class OnAllRows {
 public:
  /// @param ctx with its communicator and slabs.
  /// @throws Error(invalid_argument) unless the slabs have as many rows as the operator.
  OnAllRows(const Context& ctx, Operator<T> whole) : whole_(std::move(whole)), rows_(rows_here(ctx, whole_.rows())) {}

  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  [[nodiscard]] Space space() const { return whole_.space(); }
  void apply(const Context& ctx, PlacedView<const T> x, PlacedView<T> y) const {
    auto from = gathered(ctx, x), to = all_of<T>(ctx, y);
    whole_.apply(alone(ctx), from.view(), to.view());
    keep(ctx, to, y);
  }
  bool update(const Context& ctx, T alpha, double shift, PlacedView<const T> x, T beta, PlacedView<T> y) const {
    if (y.space() == Space::host) return false;
    auto from = gathered(ctx, x), to = gathered(ctx, y);
    const bool done = whole_.update(alone(ctx), alpha, shift, from.view(), beta, to.view());
    if (done) keep(ctx, to, y);
    return done;
  }
  bool recurrence(const Context& ctx, index_t count, double alpha, double shift, PlacedView<T> x, double beta,
                  PlacedView<T> y) const {
    auto from = gathered(ctx, x), to = gathered(ctx, y);
    const bool done = whole_.recurrence(alone(ctx), count, alpha, shift, from.view(), beta, to.view());
    if (done) keep(ctx, from, x), keep(ctx, to, y);
    return done;
  }
  bool residual(const Context& ctx, PlacedView<const T> x, std::span<const double> theta, PlacedView<T> r) const {
    const Space space = r.space() == Space::host ? Space::host : whole_.residual_space();
    auto from = gathered(ctx, x);
    if (space == Space::host) from.memory = std::move(from.memory).to_host(ctx);
    Block to{PlacedMatrix<T>(ctx, space, whole_.rows(), r.cols()), r.cols()};
    const bool compensated = whole_.residual(alone(ctx), from.view(), theta, to.view());
    keep(ctx, to, r);
    return compensated;
  }
  [[nodiscard]] OperatorFacts facts() const { return whole_.facts(); }

 private:
  static index_t rows_here(const Context& ctx, index_t n) {
    const int ranks = ctx.communicator->size();
    if (ranks == 1) return n;
    expects(ctx.slabs.slabs() == ranks && ctx.slabs.rows() == n,
            "Context::slabs must say which rows of the operator each rank has");
    return ctx.slabs.rows(ctx.communicator->rank());
  }
  /// All rows of a block.
  struct Block {
    PlacedMatrix<T> memory;
    index_t cols;
    [[nodiscard]] PlacedView<T> view() { return memory.view().cols(0, cols); }
  };
  /// A block for all rows like `block`. A single column keeps its gaps between rows, with which the sum rounds
  /// otherwise.
  template <class E>
  Block all_of(const Context& ctx, PlacedView<E> block) const {
    const index_t gap = block.cols() == 1 && block.ld() > 1 ? 1 : 0;
    return {PlacedMatrix<T>(ctx, block.space(), whole_.rows(), block.cols() + gap), block.cols()};
  }
  /// This rank's rows of a block of all rows.
  static PlacedView<T> own(const Context& ctx, Block& all, index_t rows) {
    const PlacedView<T> v = all.view();
    if (v.space() == Space::host) return v.host().rows(first_row(ctx), rows);
    return v.template in<Space::device>().rows(first_row(ctx), rows);
  }
  Block gathered(const Context& ctx, PlacedView<const T> x) const {
    Block all = all_of(ctx, x);
    copy_block<T>(ctx, x, own(ctx, all, rows_));
    const int ranks = ctx.communicator->size();
    const bool host = x.space() == Space::host;
    if (ranks == 1 || (!host && ctx.stream.rehearsal() != nullptr)) return all;
    std::vector<std::size_t> offsets;
    for (int r = 0; r <= ranks; ++r)
      offsets.push_back(static_cast<std::size_t>(ctx.slabs.begin(r) * all.memory.cols()) * sizeof(T));
    auto* const bytes = reinterpret_cast<std::byte*>(all.memory.view().data());
    const bool there =
        host ? ctx.communicator->all_gather(bytes, offsets) : ctx.communicator->all_gather(ctx.stream, bytes, offsets);
    expects(there, "slabs that come one after the other cannot gather a block");
    return all;
  }
  void keep(const Context& ctx, Block& all, PlacedView<T> y) const { copy_block<T>(ctx, own(ctx, all, rows_), y); }

  Operator<T> whole_;
  index_t rows_;
};

}  // namespace ts::inline v0::solvers
