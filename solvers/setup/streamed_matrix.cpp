#include "tallskinny/solvers/setup/streamed_matrix.hpp"

#include "tallskinny/gemm/copy/copy_block.hpp"
#include "tallskinny/gemm/runtime/run_where.hpp"
#include "tallskinny/gemm/tsmm/tsmm.hpp"
#include "tallskinny/gemm/tsmttsm/tsmttsm.hpp"
#include "tallskinny/solvers/ortho/muscle.hpp"
#include "tallskinny/solvers/ortho/tall.hpp"

namespace ts::inline v0::solvers {

namespace {

using Read = PlacedView<const double>;
using Written = PlacedView<double>;

/// f(at): at(v) is the view v with `space` in its type.
template <class F>
void in_space(Space space, const F& f) {
  if (space == Space::host)
    f(At<Space::host>{});
  else
    f(At<Space::device>{});
}

template <class T>
PlacedView<T> placed(Space space, T* data, index_t rows, index_t cols, index_t ld) {
  if (space == Space::host) return HostView<T>::unchecked(data, rows, cols, ld);
  return DeviceView<T>::unchecked(data, rows, cols, ld);
}

template <class T>
PlacedView<T> rows_of(PlacedView<T> v, index_t first, index_t count) {
  return placed<T>(v.space(), v.data() + first * v.ld(), count, v.cols(), v.ld());
}

}  // namespace

struct StreamedMatrix::Impl {
  std::shared_ptr<const StreamedRows> rows;
  std::vector<double> means;
  PlacedMatrix<double> ones;  ///< for a block, where there are means
  double squares = 0;

  [[nodiscard]] index_t m() const { return rows->rows(); }
  [[nodiscard]] index_t n() const { return rows->cols(); }

  /// use(first, B) for blocks B of A in float64, where they arrive.
  template <class Use>
  void pass(const Context& ctx, const Use& use) const {
    const Space space = rows->space();
    Matrix<double> mu(1, n());
    for (index_t j = 0; j < n() && !means.empty(); ++j) mu(0, j) = means[at(j)];
    rows->for_each_block([&](index_t first, const Rows& block) {
      const index_t count = block.rows();
      PlacedMatrix<double> own;
      Read b;
      if (block.type() == DType::float32) {
        own = cast<double, float>(
            ctx, placed<const float>(space, static_cast<const float*>(block.values()), count, n(), n()));
        b = own.cview();
      } else {
        b = placed<const double>(space, static_cast<const double*>(block.values()), count, n(), n());
      }
      if (!means.empty()) {  // B - 1 mu^T
        if (own.rows() == 0) {
          own = PlacedMatrix<double>(ctx, space, count, n());
          copy_block<double>(ctx, b, own.view());
        }
        ortho::Tall<double>(ctx).combine(-1, rows_of(ones.cview(), 0, count), mu.cview(), 1, own.view());
        b = own.cview();
      }
      use(first, b);
    });
  }

  /// Y = A X where blocks arrive.
  void times(const Context& ctx, Read x, Written y) const {
    pass(ctx, [&](index_t first, Read b) {
      in_space(rows->space(),
               [&](auto at) { tsmm(ctx, Op::none, 1.0, at(b), at(x), 0.0, at(rows_of(y, first, b.rows()))); });
    });
  }
  /// Y = A^H X there.
  void adjoint_times(const Context& ctx, Read x, Written y) const {
    pass(ctx, [&](index_t first, Read b) {
      in_space(rows->space(), [&](auto at) {
        tsmttsm(ctx, Op::adjoint, 1.0, at(b), at(rows_of(x, first, b.rows())), first == 0 ? 0.0 : 1.0, at(y));
      });
    });
  }
  /// G = A^H A on the host.
  void gram(const Context& ctx, HostView<double> g) {
    PlacedMatrix<double> sum(ctx, rows->space(), n(), n());
    pass(ctx, [&](index_t first, Read b) {
      in_space(rows->space(),
               [&](auto at) { ts::gram(ctx, Op::adjoint, 1.0, at(b), first == 0 ? 0.0 : 1.0, at(sum.view())); });
    });
    copy_block<double>(ctx, sum.cview(), g);
    squares = 0;
    for (index_t j = 0; j < n(); ++j) squares += g(j, j);
  }

  /// R of A = Q R on the host: each block below the R of those before it is factorised.
  void triangle(const Context& ctx, HostView<double> r) const {
    Matrix<double> known = Matrix<double>::zeros(n(), n());
    pass(ctx, [&](index_t, Read b) {
      PlacedMatrix<double> stacked(ctx, rows->space(), n() + b.rows(), n());
      copy_block<double>(ctx, known.cview(), rows_of(stacked.view(), 0, n()));
      copy_block<double>(ctx, b, rows_of(stacked.view(), n(), b.rows()));
      Matrix<double> factor(n(), n());
      const auto found = ortho::orthonormalise<double>(ctx, ortho::Ladder{}, stacked.view(), factor.view());
      known = Matrix<double>::zeros(n(), n());
      copy_block<double>(ctx, factor.cview().rows(0, found.rank), known.view().rows(0, found.rank));
    });
    copy_block<double>(ctx, known.cview(), r);
  }

  /// product(X, Y) where blocks arrive, wherever X and Y are.
  template <class Product>
  void brought(const Context& ctx, Read x, Written y, const Product& product) const {
    const Space space = rows->space();
    if (y.space() == space) return product(x, y);
    PlacedMatrix<double> from(ctx, space, x.rows(), x.cols()), to(ctx, space, y.rows(), y.cols());
    copy_block<double>(ctx, x, from.view());
    product(from.cview(), to.view());
    copy_block<double>(ctx, to.cview(), y);
  }
};

StreamedMatrix::StreamedMatrix(std::shared_ptr<const StreamedRows> rows) : impl_(std::make_shared<Impl>()) {
  expects(rows->type() == DType::float64 || rows->type() == DType::float32,
          "a matrix that passes by in blocks of rows is of float64 or float32");
  impl_->rows = std::move(rows);
}

void StreamedMatrix::centre(const Context& ctx) {
  impl_->means.clear();
  impl_->means = column_means(ctx, products());
  impl_->ones = column_of_ones<double>(ctx, impl_->rows->space(), impl_->rows->block_rows());
}

const std::vector<double>& StreamedMatrix::means() const noexcept { return impl_->means; }

double StreamedMatrix::squares() const noexcept { return impl_->squares; }

Rectangular<double> StreamedMatrix::products() const {
  const auto product = [impl = impl_](auto times) {
    return [impl, times](const Context& ctx, Read x, Written y) {
      impl->brought(ctx, x, y, [&](Read from, Written to) { ((*impl).*times)(ctx, from, to); });
    };
  };
  return {.rows = impl_->m(),
          .cols = impl_->n(),
          .times = product(&Impl::times),
          .adjoint_times = product(&Impl::adjoint_times),
          .space = impl_->rows->space(),
          .gram = [impl = impl_](const Context& ctx, HostView<double> g) { impl->gram(ctx, g); },
          .triangle = [impl = impl_](const Context& ctx, HostView<double> r) { impl->triangle(ctx, r); }};
}

}  // namespace ts::inline v0::solvers
