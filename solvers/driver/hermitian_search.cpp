#include "tallskinny/solvers/driver/hermitian_search.hpp"

namespace ts::inline v0::solvers {

namespace {

std::string_view words_for(const HermitianWish& wish, Method planned) {
  switch (planned) {
    case Method::dense: return "dense";
    case Method::lobpcg: return "LOBPCG";
    case Method::davidson: return "block Davidson";
    default: break;
  }
  if (wish.interval)
    return wish.method == Method::automatic ? "spectrum slicing by shift-invert block Lanczos"
                                            : "block Lanczos until the interval is covered";
  return target_of(wish) ? "block Lanczos, shift-invert" : "block Lanczos";
}

}  // namespace

std::optional<double> target_of(const HermitianWish& wish) {
  if (wish.sigma) return wish.sigma;
  if (wish.which == Which::SM && !wish.interval) return 0.0;
  return std::nullopt;
}

bool seeks_through_factors(const HermitianWish& wish) {
  return target_of(wish) || (wish.interval && wish.method == Method::automatic && !wish.dense);
}

HermitianSearch search_of(const HermitianWish& wish, const EigenPlan& plan) {
  HermitianSearch search{.method = words_for(wish, plan.method), .why = plan.why};
  if (plan.method != Method::dense)
    search.factorise = seeks_through_factors(wish) ? Factorise::needed : Factorise::cheap;
  const bool counts = wish.method == Method::automatic || wish.method == Method::dense;
  if (wish.interval && counts) search.factorise = Factorise::needed;  // at its ends; a dense one if it is not large
  search.narrow = wish.precision != Precision::float64 && plan.method == Method::lanczos;
  if (wish.method == Method::automatic && plan.method == Method::lanczos) {
    if (wish.interval)
      search.why = "factorisations at the ends of slices count what is in them";
    else if (target_of(wish))
      search.why = "the inverse makes what is near the target converge first";
  }
  return search;
}

}  // namespace ts::inline v0::solvers
