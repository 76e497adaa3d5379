// Skeletons that delay the second projection of a block into the first of the next: one reduction serves
// both.
#include <algorithm>

#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::ortho::detail {

namespace {

/// How a block is normalised between its two projections.
enum class Between { nothing, pythagoras, muscle, pythagoras_then_muscle };

/// U = (X_k - Q S) S_kk^-1 at columns q .. q+u-1 of X waits for its second projection; columns before q are
/// Q.
template <class T>
class Delayed {
 public:
  Delayed(Tall<T>& tall, Between between, const Muscle& muscle, HostView<T> x, HostView<T> r, index_t width)
      : tall_(tall), between_(between), muscle_(muscle), x_(x), r_(r), width_(width) {}

  Orthonormalised run(const Muscle& first) {
    u_ = std::min(width_, x_.cols());
    if (u_ == 0) return {0, 0, true, {}};
    if (!factorise_in_full(tall_, first, x_.cols(0, u_), r_.block(0, 0, u_, u_))) {
      set_zero(r_);
      return {};
    }
    if (!start_second_block()) return {q_, 0, false, {}};
    while (u_ > 0)
      if (!step()) return {q_, 0, false, {}};
    return {q_, 0, true, {}};
  }

 private:
  HostView<const T> basis() const { return x_.cols(0, q_); }
  HostView<T> waiting() const { return x_.cols(q_, u_); }
  [[nodiscard]] index_t next_width() const { return std::min(width_, x_.cols() - q_ - u_); }

  bool start_second_block() {
    q_ = u_, u_ = std::min(width_, x_.cols() - q_);
    if (u_ == 0) return true;
    s_ = Matrix<T>(q_, u_);
    Matrix<T> g(u_, u_);
    tall_.inner_and_gram(basis(), waiting(), s_.view(), g.view());
    tall_.subtract(basis(), s_.cview(), waiting());
    return normalise(std::move(g));
  }

  /// U = U S_kk^-1 for a U just projected, with G = X^H X from before.
  bool normalise(Matrix<T> g) {
    factor_ = Matrix<T>(u_, u_);
    set_identity(factor_.view());
    if (between_ == Between::nothing) return true;
    if (between_ != Between::muscle) {  // S_kk = chol(X^H X - S^H S)
      subtract_adjoint_product<T>(s_.view(), s_.view(), g.view());
      if (cholesky(g.view())) {
        tall_.solve(waiting(), g.cview());
        factor_ = std::move(g);
        return true;
      }
      if (between_ == Between::pythagoras) return false;
      between_ = Between::muscle;
    }
    return factorise_in_full(tall_, muscle_, waiting(), factor_.view());
  }

  /// Whether W = U^H U says that Pythagoras cannot be trusted any more: lambda_max >= 3 lambda_min.
  [[nodiscard]] static bool spread_out(const Matrix<T>& w) {
    const auto e = hermitian_eigen<T>(w.view());
    return !(e.values.back() < 3 * e.values.front());
  }

  /// From now on the muscle normalises, beginning with the U that waits.
  bool switch_to_muscle() {
    between_ = Between::muscle;
    Matrix<T> r(u_, u_);
    if (!factorise_in_full(tall_, muscle_, waiting(), r.view())) return false;
    multiply_left<T>(r.view(), factor_.view());
    return true;
  }

  bool step() {
    const index_t q = q_, u = u_, next = next_width(), both = u + next;
    // One reduction: [Y Z] = Q^H [U X] and [W P; . G] = [U X]^H [U X].
    Matrix<T> yz(q, both), wpg(both, both);
    tall_.inner_and_gram(basis(), x_.cols(q, both), yz.view(), wpg.view());
    const auto y = yz.cview().cols(0, u), z = yz.cview().cols(u, next);
    auto d = Matrix<T>::copy_of(wpg.cview().block(0, 0, u, u));

    const bool may_switch = between_ == Between::pythagoras_then_muscle;
    if (may_switch && spread_out(d)) return switch_to_muscle();
    subtract_adjoint_product<T>(y, y, d.view());  // D = chol(W - Y^H Y)
    if (!cholesky(d.view())) return may_switch && switch_to_muscle();

    // X_k = Q (S + Y S_kk) + Q_k D S_kk with Q_k = (U - Q Y) D^-1
    add<T>(s_.view(), product<T>(y, factor_.view()).view());
    copy<T>(s_.view(), r_.block(0, q, q, u));
    copy<T>(product<T>(d.view(), factor_.view()).view(), r_.block(q, q, u, u));
    tall_.subtract(basis(), yz.cview(), x_.cols(q, both));
    tall_.solve(waiting(), d.cview());
    const HostView<const T> qk = waiting();
    q_ += u, u_ = next;
    if (next == 0) return true;

    // S = [Z; D^-H (P - Y^H Z)], the projection of X onto [Q Q_k]
    auto t = Matrix<T>::copy_of(wpg.cview().block(0, u, u, next));
    subtract_adjoint_product<T>(y, z, t.view());
    solve_adjoint<T>(d.view(), t.view());
    s_ = Matrix<T>(q_, next);
    copy<T>(z, s_.view().rows(0, q));
    copy<T>(t.view(), s_.view().rows(q, u));
    tall_.subtract(qk, t.cview(), waiting());
    return normalise(Matrix<T>::copy_of(wpg.cview().block(u, u, next, next)));
  }

  Tall<T>& tall_;
  Between between_;
  const Muscle& muscle_;
  HostView<T> x_, r_;
  index_t width_, q_ = 0, u_ = 0;
  Matrix<T> s_, factor_;  // S, q x u, and S_kk, u x u, of the block that waits
};

}  // namespace

template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsiPlusA1s& method, HostView<T> x, HostView<T> r, index_t width) {
  return Delayed<T>(tall, Between::nothing, method.first, x, r, width).run(method.first);
}
template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsiPlusP1s& method, HostView<T> x, HostView<T> r, index_t width) {
  return Delayed<T>(tall, Between::pythagoras, method.first, x, r, width).run(method.first);
}
template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsiPlusP2s& method, HostView<T> x, HostView<T> r, index_t width) {
  return Delayed<T>(tall, Between::muscle, method.muscle, x, r, width).run(method.first);
}
template <class T>
Orthonormalised run(Tall<T>& tall, const BcgsiPlusAdaptive& method, HostView<T> x, HostView<T> r, index_t width) {
  return Delayed<T>(tall, Between::pythagoras_then_muscle, method.muscle, x, r, width).run(method.first);
}

#define TS_INSTANTIATE(T)                                                                            \
  template Orthonormalised run<T>(Tall<T>&, const BcgsiPlusA1s&, HostView<T>, HostView<T>, index_t); \
  template Orthonormalised run<T>(Tall<T>&, const BcgsiPlusP1s&, HostView<T>, HostView<T>, index_t); \
  template Orthonormalised run<T>(Tall<T>&, const BcgsiPlusP2s&, HostView<T>, HostView<T>, index_t); \
  template Orthonormalised run<T>(Tall<T>&, const BcgsiPlusAdaptive&, HostView<T>, HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho::detail
