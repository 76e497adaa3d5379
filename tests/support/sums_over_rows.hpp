// Every operation that sums over rows, on operands that one process has as a whole, slab by slab, or a slab
// of.
#pragma once

#include "tallskinny/gemm/comm/slab_collector.hpp"
#include "tallskinny/gemm/norms/column_norms.hpp"
#include "tallskinny/gemm/project/project.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/tests/support/device.hpp"

namespace ts::test {

/// Elements in host memory, or in that of a stream's device.
template <class T>
class Elements {
 public:
  Elements(const cuda::Stream& stream, std::vector<T> values) : stream_(stream), host_(std::move(values)) {
    if (!stream_) return;
    there_ = cuda::Memory(stream_, host_.size() * sizeof(T) + 1);
    cuda::copy_bytes(stream_, there_.data(), host_.data(), host_.size() * sizeof(T));
    stream_.synchronize();
  }
  [[nodiscard]] T* data() { return stream_ ? static_cast<T*>(there_.data()) : host_.data(); }
  void append_to(std::vector<unsigned char>& bits) {
    if (stream_) {
      cuda::copy_bytes(stream_, host_.data(), there_.data(), host_.size() * sizeof(T));
      stream_.synchronize();
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(host_.data());
    bits.insert(bits.end(), bytes, bytes + host_.size() * sizeof(T));
  }

 private:
  cuda::Stream stream_;
  std::vector<T> host_;
  cuda::Memory there_;
};

/// A and V are n x p, B and W n x q.
template <class T>
class SumsOverRows {
  using R = result_t<T>;

 public:
  SumsOverRows(index_t n, index_t p, index_t q, Form form) : n_(n), p_(p), q_(q), form_(form) {
    Values values(static_cast<std::uint64_t>(n + 100 * p + q));
    a_ = random<T>(n, p, values), b_ = random<T>(n, q, values);
    if constexpr (std::is_same_v<T, R>) s_ = random<R>(1, p * q, values);
  }

  [[nodiscard]] index_t rows() const { return n_; }

  /// The bits of all results that a process computes which has rows `first` to `first + rows - 1`.
  [[nodiscard]] std::vector<unsigned char> bits_of_slab(const Context& ctx, index_t first, index_t rows) const {
    return bits(ctx, [&](const auto& run) { run(ctx, first, rows); });
  }
  [[nodiscard]] std::vector<unsigned char> bits_of_whole(const Context& ctx) const { return bits_of_slab(ctx, 0, n_); }

  /// Bits of one process that goes through the slabs.
  [[nodiscard]] std::vector<unsigned char> bits_of_slabs(Context ctx, const RowSlabs& slabs) const {
    const auto collector = std::make_shared<SlabCollector>(slabs.slabs());
    ctx.communicator = collector, ctx.slabs = slabs;
    return bits(ctx, [&](const auto& run) {
      for (int slab = 0; slab < slabs.slabs(); ++slab) {
        collector->begin(slab);
        run(ctx, slabs.begin(slab), slabs.rows(slab));
      }
    });
  }

 private:
  template <class E>
  std::vector<E> random(index_t rows, index_t columns, Values& values) const {
    const bool by_rows = form_.layout == Layout::row_major;
    const index_t lines = by_rows ? rows : columns, ld = (by_rows ? columns : rows) + form_.padding;
    std::vector<E> elements(static_cast<std::size_t>(lines * ld + form_.offset));
    for (E& x : elements) {
      const double re = values.uniform();
      x = element<E>(re, values.uniform());
    }
    return elements;
  }
  template <Space S, class E>
  Strided<E, S> tall(Elements<E>& elements, index_t columns, index_t first, index_t rows) const {
    const bool by_rows = form_.layout == Layout::row_major;
    const index_t ld = (by_rows ? columns : n_) + form_.padding;
    return Strided<E, S>(elements.data() + form_.offset, n_, columns, by_rows ? ld : 1, by_rows ? 1 : ld)
        .block(first, 0, rows, columns);
  }

  /// use(run), where run(context, first, rows) does all operations on these rows.
  template <class Use>
  std::vector<unsigned char> bits(const Context& where, const Use& use) const {
    if (where.stream) return bits_in<Space::device>(where.stream, use);
    return bits_in<Space::host>(where.stream, use);
  }
  template <Space S, class Use>
  std::vector<unsigned char> bits_in(const cuda::Stream& stream, const Use& use) const {
    const auto small = [&](index_t rows, index_t columns) {
      return Elements<R>(stream, std::vector<R>(static_cast<std::size_t>(rows * columns), element<R>(0.5, 0.25)));
    };
    const auto square = [](auto& elements, index_t rows, index_t columns) {
      using E = std::remove_reference_t<decltype(*elements.data())>;
      return Strided<E, S>(elements.data(), rows, columns, columns, 1);
    };
    Elements<T> a(stream, a_), b(stream, b_);
    Elements<R> c = small(p_, q_), g = small(p_, p_), s(stream, s_), s_next = small(p_, q_), gw = small(q_, q_);
    Elements<R> first_s = small(p_, q_), first_g = small(q_, q_);
    Elements<real_t<T>> norms(stream, std::vector<real_t<T>>(static_cast<std::size_t>(p_)));
    use([&](const Context& ctx, index_t first, index_t rows) {
      const Strided<const T, S> va = tall<S>(a, p_, first, rows), vb = tall<S>(b, q_, first, rows);
      detail::tsmttsm<T>(ctx, Op::adjoint, element<R>(0.75, -0.5), va, vb, element<R>(2, 1), square(c, p_, q_));
      detail::gram<T>(ctx, Op::adjoint, R{1}, va, R{}, square(g, p_, p_));
      if constexpr (S == Space::host)
        detail::column_norms<T>(ctx, va, std::span<real_t<T>>(norms.data(), static_cast<std::size_t>(p_)));
      else
        detail::column_norms<T>(ctx, va, square(norms, 1, p_));
      if constexpr (std::is_same_v<T, R>) {
        detail::inner_and_gram<T>(ctx, va, vb, square(first_s, p_, q_), square(first_g, q_, q_));
        detail::project_out<T>(ctx, va, Strided<const T, S>(square(s, p_, q_)), tall<S>(b, q_, first, rows),
                               square(s_next, p_, q_), square(gw, q_, q_));
      }
    });
    std::vector<unsigned char> all;
    c.append_to(all), g.append_to(all), norms.append_to(all), first_s.append_to(all), first_g.append_to(all);
    s_next.append_to(all), gw.append_to(all);
    return all;
  }

  index_t n_, p_, q_;
  Form form_;
  std::vector<T> a_, b_;
  std::vector<R> s_;
};

/// The bits of 1, 2, 3 and 7 slabs are those of the whole.
template <class T>
void check_slabs(const Context& ctx, const SumsOverRows<T>& sums) {
  const auto whole = sums.bits_of_whole(ctx);
  for (const int slabs : {1, 2, 3, 7}) {
    CAPTURE(slabs);
    CHECK(sums.bits_of_slabs(ctx, RowSlabs::of_units(sums.rows(), slabs)) == whole);
  }
}

}  // namespace ts::test
