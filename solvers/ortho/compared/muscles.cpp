#include "tallskinny/solvers/ortho/compared/muscles.hpp"

#include "tallskinny/solvers/ortho/compared/skeleton_detail.hpp"
#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho {

template <class T>
Factored detail::factorise(Tall<T>& tall, const Muscle& muscle, PlacedView<T> x, HostView<T> r) {
  set_identity(r);
  return std::visit([&](const auto& method) { return factorise(tall, method, x, r); }, muscle);
}

template <class T>
Factored orthonormalise(const Context& ctx, const Muscle& muscle, PlacedView<T> x, HostView<T> r) {
  expects(r.rows() == x.cols() && r.cols() == x.cols(), "R must be b x b for a block of b columns");
  Tall<T> tall(ctx);
  Factored f = detail::factorise(tall, muscle, x, r);
  f.work = tall.work();
  return f;
}

#define TS_INSTANTIATE(T)                                                                      \
  template Factored detail::factorise<T>(Tall<T>&, const Muscle&, PlacedView<T>, HostView<T>); \
  template Factored orthonormalise<T>(const Context&, const Muscle&, PlacedView<T>, HostView<T>);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
