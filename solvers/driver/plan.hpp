// Plans of searches, from what is known of a matrix before it is read: pure functions.
#pragma once

#include <optional>

#include "tallskinny/solvers/driver/general.hpp"
#include "tallskinny/solvers/driver/hermitian.hpp"
#include "tallskinny/solvers/setup/where.hpp"

namespace ts::inline v0::solvers {

/// A matrix before it is read.
struct MatrixFacts {
  index_t rows = 0, cols = 0, entries = 0;
  bool sparse = false;            ///< it is stored so
  std::uint64_t bytes = 0;        ///< in memory, as it is stored
  std::size_t element_bytes = 8;  ///< of the numbers that are computed with
};

/// Sizes of a search, and what decides where it is made.
struct SearchPlan {
  EigenPlan eigen;  ///< of a Hermitian matrix, or of A^H A
  /// How the matrix is decomposed as a whole; nothing: it is not.
  std::optional<DenseTask> whole;
  bool small = false;  ///< decomposed as a whole without being asked, and so small that a device is not worth starting
  RunWork work;        ///< empty where it is not known, or is that of the processor
};

/// @param pencil there is a mass matrix. @param initial columns of a warm start
[[nodiscard]] SearchPlan plan_hermitian(const MatrixFacts&, const HermitianRequest&, const EigenOptions&, bool pencil,
                                        index_t initial = 0);
[[nodiscard]] SearchPlan plan_general(const MatrixFacts&, const GeneralRequest&, const EigenOptions&);
[[nodiscard]] SearchPlan plan_svd(const MatrixFacts&, const EigenOptions&);

}  // namespace ts::inline v0::solvers
