// Rows of a file for passes in blocks, and tall blocks of which every rank has its rows, as rank 0 writes them into one
// file: piece after piece, so that nobody needs to have all of them.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tallskinny/gemm/core/matrix.hpp"
#include "tallskinny/gemm/runtime/context.hpp"
#include "tallskinny/io/output_file.hpp"
#include "tallskinny/io/row_reader.hpp"
#include "tallskinny/solvers/setup/streamed_rows.hpp"

namespace ts::app {

/// The rows that a rank has of a block.
struct OwnRows {
  std::size_t row_bytes = 0;
  std::function<void(index_t begin, index_t count, std::byte* to)> copy;
};
/// The memory must outlive it.
template <class T>
[[nodiscard]] OwnRows own_rows(HostView<const T> rows) {
  const std::size_t bytes = static_cast<std::size_t>(rows.cols()) * sizeof(T);
  return {bytes, [rows, bytes](index_t begin, index_t count, std::byte* to) {
            for (index_t i = 0; i < count && bytes > 0; ++i)
              std::memcpy(to + static_cast<std::size_t>(i) * bytes, &rows(begin + i, 0), bytes);
          }};
}

/// Access of rank 0 to rows of all ranks, while they are in with_rows_of_ranks().
class RowsOfRanks {
 public:
  RowsOfRanks(const Context& ctx, const std::vector<OwnRows>& blocks) : ctx_(ctx), blocks_(blocks) {}
  /// Calls use(rows) for all rows of a block, in their order, in pieces of some MiB.
  void each_piece(std::size_t block, const std::function<void(std::span<const std::byte>)>& use) const;

 private:
  const Context& ctx_;
  const std::vector<OwnRows>& blocks_;
};

/// Rank 0 calls write(rows), in which it asks for rows; the others give them until it has ended. All ranks call it with
/// as many blocks, whose rows ctx.slabs distributes. @throws what `write` does, on rank 0 alone.
void with_rows_of_ranks(const Context& ctx, const std::vector<OwnRows>& blocks,
                        const std::function<void(const RowsOfRanks&)>& write);

/// A block of all ranks as a dataset. @param cols -1: a list.
template <class T>
void write_rows(io::OutputFile& out, const std::string& object, const RowsOfRanks& ranks, std::size_t block,
                index_t rows, index_t cols) {
  out.begin_rows<T>(object, rows, cols);
  ranks.each_piece(block, [&](std::span<const std::byte> bytes) {
    out.add_rows<T>(object, std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)));
  });
}

/// All rows of `reader`; values are checked where asked, unless the input is trusted.
[[nodiscard]] solvers::RowOrigin row_origin(const std::shared_ptr<const io::RowReader>& reader,
                                            const io::ReadOptions& read);

}  // namespace ts::app
