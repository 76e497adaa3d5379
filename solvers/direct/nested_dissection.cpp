#include "tallskinny/solvers/direct/nested_dissection.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::solvers {

namespace {

/// Below it any order will do.
constexpr index_t least_rows = 200;

/// METIS_NodeND with 32-bit integers, as Debian builds it: n, starts, neighbours, weights, options, order, positions.
using NodeDissection = int(int*, int*, int*, int*, int*, int*, int*);
constexpr int metis_ok = 1;

NodeDissection* metis() {
  static NodeDissection* const call = [] {
    constexpr const char* names[] = {"libmetis.so.5"};
    NodeDissection* function = nullptr;
    return cuda::SharedLibrary(names).bind(function, "METIS_NodeND") ? function : nullptr;
  }();
  return call;
}

}  // namespace

std::vector<int> nested_dissection(index_t n, const index_t* pointers, const std::int32_t* indices) {
  if (n < least_rows || metis() == nullptr || 2 * pointers[n] > std::numeric_limits<int>::max()) return {};
  std::vector<std::vector<int>> neighbours(at(n));
  for (index_t i = 0; i < n; ++i)
    for (index_t e = pointers[i]; e < pointers[i + 1]; ++e)
      if (indices[e] != i)
        neighbours[at(i)].push_back(indices[e]), neighbours[at(indices[e])].push_back(static_cast<int>(i));
  std::vector<int> starts = {0}, ends;
  for (std::vector<int>& of_row : neighbours) {
    std::sort(of_row.begin(), of_row.end());
    ends.insert(ends.end(), of_row.begin(), std::unique(of_row.begin(), of_row.end()));
    starts.push_back(static_cast<int>(ends.size()));
    std::vector<int>().swap(of_row);
  }
  int rows = static_cast<int>(n);
  std::vector<int> order(at(n)), positions(at(n));
  // Its random numbers, which a call begins anew, are those of the process: two calls at once would take turns in them.
  static std::mutex one_at_a_time;
  const std::lock_guard alone(one_at_a_time);
  if (metis()(&rows, starts.data(), ends.data(), nullptr, nullptr, order.data(), positions.data()) != metis_ok)
    return {};
  return positions;
}

}  // namespace ts::solvers
