#include "tallskinny/solvers/driver/cluster.hpp"

namespace ts::inline v0::solvers {

std::string verdict(const KMeansResult& result) {
  const std::string after = std::to_string(result.n_iter) + (result.n_iter == 1 ? " iteration" : " iterations");
  switch (result.stop) {
    case KMeansStop::labels_unchanged: return "converged after " + after + ": no label changed";
    case KMeansStop::tolerance: return "converged after " + after + ": centres moved by less than the tolerance";
    case KMeansStop::refined: return "refined in " + after + ", as often as was asked for";
    case KMeansStop::interrupted: return "stopped after " + after + " by on_progress";
    case KMeansStop::max_iterations: break;
  }
  return "not converged after " + after +
         ": labels and centres belong together; increase `max_iter` to improve "
         "them";
}

}  // namespace ts::inline v0::solvers
