#include "tallskinny/solvers/ortho/compared/catalogue.hpp"

#include "tallskinny/solvers/ortho/small.hpp"

namespace ts::inline v0::ortho {

std::vector<NamedMethod> every_method() {
  return {{"default", Skeleton(BcgsiPlusA{})},
          {"BCGS.HQR", Skeleton(Bcgs{HouseholderQr{}})},
          {"BCGSI+.HQR", Skeleton(BcgsiPlus{HouseholderQr{}, HouseholderQr{}})},
          {"BCGSI+.CholQR", Skeleton(BcgsiPlus{CholQr{}, CholQr{}})},
          {"BCGSI+A.CholQR", Skeleton(BcgsiPlus{})},
          {"BCGS-PIP", Skeleton(BcgsPip{})},
          {"BCGS-PIPI+", Skeleton(BcgsPipiPlus{})},
          {"BCGSI+A-1S", Skeleton(BcgsiPlusA1s{})},
          {"BCGSI+P-1S", Skeleton(BcgsiPlusP1s{})},
          {"BCGSI+P-2S", Skeleton(BcgsiPlusP2s{})},
          {"adaptive-1S/2S", Skeleton(BcgsiPlusAdaptive{})},
          {"BMGS.TSQR", Skeleton(BlockMgs{})},
          {"RBCGS", Skeleton(RandomisedBcgs{})},
          {"CholQR", Muscle(CholQr{})},
          {"CholQR2", Muscle(CholQr2{})},
          {"sCholQR3", Muscle(ShiftedCholQr3{})},
          {"MixedCholQR", Muscle(MixedCholQr{})},
          {"RandCholQR", Muscle(RandomisedCholQr{})},
          {"SVQB", Muscle(Svqb{})},
          {"TSQR", Muscle(Tsqr{})},
          {"HouseholderQR", Muscle(HouseholderQr{})}};
}

std::optional<NamedMethod> method_named(std::string_view name) {
  for (const NamedMethod& m : every_method())
    if (m.name == name) return m;
  return std::nullopt;
}

Counts counts(const NamedMethod& method, int blocks) {
  if (const auto* skeleton = std::get_if<Skeleton>(&method.how)) return counts(*skeleton, blocks);
  return {std::visit([](const auto& m) { return m.reductions; }, *std::get_if<Muscle>(&method.how)), 0};
}

template <class T>
Orthonormalised orthonormalise(const Context& ctx, const NamedMethod& method, HostView<T> x, HostView<T> r,
                               index_t width) {
  if (const auto* skeleton = std::get_if<Skeleton>(&method.how)) return orthonormalise<T>(ctx, *skeleton, x, r, width);
  const Factored f = orthonormalise<T>(ctx, std::get<Muscle>(method.how), x, r);
  const bool complete = f.rung != Rung::failed;
  if (!complete) set_zero(r);
  return {f.rank, complete ? x.cols() - f.rank : 0, complete, f.work};
}

#define TS_INSTANTIATE(T) \
  template Orthonormalised orthonormalise<T>(const Context&, const NamedMethod&, HostView<T>, HostView<T>, index_t);
TS_FOR_EACH_RESULT_TYPE(TS_INSTANTIATE)
#undef TS_INSTANTIATE

}  // namespace ts::inline v0::ortho
