// Values and vectors as tables, for other programs.
#pragma once

#include "tallskinny/app/common/rows_of_ranks.hpp"
#include "tallskinny/app/tssolve/report.hpp"

namespace ts::app::tssolve {

/// Whether a table takes standard output. @throws Error(invalid_argument) for --json beside it.
[[nodiscard]] bool prints_table(const Settings& settings);
/// Whether vectors are written anywhere.
[[nodiscard]] bool writes_vectors(const Settings& settings);

/// Writes what --values-out, --vectors-out and --left-vectors-out name, and adds a line for each to `written`.
/// @param left singular vectors, or null
/// @param ranks whose block 0 are the vectors; null: `result` has all
template <class T>
void write_tables(const solvers::EigenResult<T>& result, const Settings& settings, const RunFacts& facts,
                  const Matrix<T>* left, const RowsOfRanks* ranks, std::vector<std::string>& written);
void write_tables(const solvers::GeneralResult& result, const Settings& settings, std::vector<std::string>& written);

}  // namespace ts::app::tssolve
