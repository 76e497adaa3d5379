// --reorder: another order of the rows of a sparse matrix.
#pragma once

#include "tallskinny/app/tssolve/run.hpp"
#include "tallskinny/solvers/setup/reorder.hpp"

namespace ts::app::tssolve {

struct Reordered {
  std::vector<index_t> order;  ///< of all rows; empty: that of the file stays
  std::string text;            ///< what it does to products, and why it is not taken where it is not
};
/// Puts the matrix into the order that --reorder asks for. At level gpu_to_gpu that is an order for ranks on one
/// process, too. On several ranks rank 0 finds it from the pattern alone, and it is taken where they send less for a
/// product: rows then go to other ranks, and run.ctx.slabs says where. run.facts tells the bytes. All ranks call it.
/// @throws Error(out_of_memory), and Error(invalid_argument) where METIS is asked for and does not take the matrix.
template <class T>
[[nodiscard]] Reordered reorder(Run& run, AnyMatrix<T>& matrix);

}  // namespace ts::app::tssolve
