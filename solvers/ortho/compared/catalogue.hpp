// Every method by the name that the literature gives it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tallskinny/solvers/ortho/compared/skeleton.hpp"

namespace ts::inline v0::ortho {

/// A muscle takes X whole; a skeleton block after block.
struct NamedMethod {
  std::string_view name;
  std::variant<Skeleton, Muscle> how;
};

/// The default first, then skeletons, then muscles.
[[nodiscard]] std::vector<NamedMethod> every_method();
[[nodiscard]] std::optional<NamedMethod> method_named(std::string_view name);

/// For a skeleton see counts(Skeleton); for a muscle its reductions, and no passes over a basis.
[[nodiscard]] Counts counts(const NamedMethod&, int blocks);

/// X = Q R by any method; shapes, errors and outcome as for skeletons.
template <class T>
Orthonormalised orthonormalise(const Context&, const NamedMethod&, HostView<T> x, HostView<T> r, index_t width);

}  // namespace ts::inline v0::ortho
