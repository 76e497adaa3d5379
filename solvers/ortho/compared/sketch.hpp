// Random sketches of tall matrices.
#pragma once

#include <cstdint>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"

namespace ts::inline v0::ortho {

/// Rows of a sketch that keeps the geometry of b columns: norms of their combinations change by at most a
/// factor of about 1 +- sqrt(b / rows), with high probability.
[[nodiscard]] index_t sketch_rows(index_t b) noexcept;

/// Y = Theta X, rows x b, with Theta a sparse sign matrix: every row of X is added, times +-1 / sqrt(8), to
/// eight rows of Y that (seed, row) alone decides; one in each eighth of Y. `rows` is a multiple of 8. The
/// bits do not depend on the number of threads. Where X has no more rows than Y, Theta is the identity.
/// Source: Nelson and Nguyen 2013, "OSNAP: faster numerical linear algebra algorithms via sparser subspace
/// embeddings".
template <class T>
[[nodiscard]] Matrix<T> sketch(const Context&, std::uint64_t seed, index_t rows, HostView<const T> x);

}  // namespace ts::inline v0::ortho
