#include "tallskinny/solvers/direct/nested_dissection.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "tallskinny/gemm/runtime/gpu/shared_library.hpp"
#include "tallskinny/solvers/types.hpp"

namespace ts::inline v0::solvers {

namespace {

/// Below it any order will do.
constexpr index_t least_rows = 200;

/// With 32-bit integers and numbers, as Debian builds it.
struct Metis {
  cuda::SharedLibrary library;
  /// n, starts, neighbours, weights, options, order, positions
  int (*node_dissection)(int*, int*, int*, int*, int*, int*, int*) = nullptr;
  /// n, constraints, starts, neighbours, weights (of rows, of rows that are sent, of edges), parts, their shares,
  /// allowed imbalance, options, edges cut, part of each row
  int (*bisection)(int*, int*, int*, int*, int*, int*, int*, int*, float*, float*, int*, int*, int*) = nullptr;
};
constexpr int metis_ok = 1;

const Metis& metis() {
  static const Metis found = [] {
    constexpr const char* names[] = {"libmetis.so.5"};
    Metis m{cuda::SharedLibrary(names)};
    m.library.bind(m.node_dissection, "METIS_NodeND");
    m.library.bind(m.bisection, "METIS_PartGraphRecursive");
    return m;
  }();
  return found;
}

/// Of A + A^T: the neighbours of a row from starts[row] on.
struct MetisGraph {
  std::vector<int> starts, ends;
};

MetisGraph metis_graph_of(index_t n, const index_t* pointers, const std::int32_t* indices) {
  std::vector<std::vector<int>> neighbours(at(n));
  for (index_t i = 0; i < n; ++i)
    for (index_t e = pointers[i]; e < pointers[i + 1]; ++e)
      if (indices[e] != i)
        neighbours[at(i)].push_back(indices[e]), neighbours[at(indices[e])].push_back(static_cast<int>(i));
  MetisGraph graph{{0}, {}};
  graph.starts.reserve(at(n) + 1);
  for (std::vector<int>& of_row : neighbours) {
    std::sort(of_row.begin(), of_row.end());
    graph.ends.insert(graph.ends.end(), of_row.begin(), std::unique(of_row.begin(), of_row.end()));
    graph.starts.push_back(static_cast<int>(graph.ends.size()));
    std::vector<int>().swap(of_row);
  }
  return graph;
}

/// call(rows, graph, list of n) by METIS; empty where that takes none.
template <class Call>
std::vector<int> by_metis(index_t n, const index_t* pointers, const std::int32_t* indices, const Call& call) {
  if (n < least_rows || 2 * pointers[n] > std::numeric_limits<int>::max()) return {};
  MetisGraph graph = metis_graph_of(n, pointers, indices);
  int rows = static_cast<int>(n);
  std::vector<int> list(at(n));
  // Its random numbers, which a call begins anew, are those of the process: two calls at once would take turns in them.
  static std::mutex one_at_a_time;
  const std::lock_guard alone(one_at_a_time);
  if (call(rows, graph, list) != metis_ok) return {};
  return list;
}

}  // namespace

std::vector<int> nested_dissection(index_t n, const index_t* pointers, const std::int32_t* indices) {
  if (metis().node_dissection == nullptr) return {};
  return by_metis(n, pointers, indices, [](int& rows, MetisGraph& graph, std::vector<int>& positions) {
    std::vector<int> order(positions.size());
    return metis().node_dissection(&rows, graph.starts.data(), graph.ends.data(), nullptr, nullptr, order.data(),
                                   positions.data());
  });
}

std::vector<int> parts_of_rows(index_t n, const index_t* pointers, const std::int32_t* indices,
                               std::span<const index_t> sizes) {
  if (metis().bisection == nullptr) return {};
  return by_metis(n, pointers, indices, [&](int& rows, MetisGraph& graph, std::vector<int>& part) {
    int constraints = 1, parts = static_cast<int>(sizes.size()), cut = 0;
    std::vector<float> shares;
    shares.reserve(sizes.size());
    for (const index_t size : sizes) shares.push_back(static_cast<float>(size) / static_cast<float>(n));
    return metis().bisection(&rows, &constraints, graph.starts.data(), graph.ends.data(), nullptr, nullptr, nullptr,
                             &parts, shares.data(), nullptr, nullptr, &cut, part.data());
  });
}

}  // namespace ts::inline v0::solvers
