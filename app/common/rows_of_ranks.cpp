#include "tallskinny/app/common/rows_of_ranks.hpp"

#include <algorithm>
#include <array>

namespace ts::app {

namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;

/// Block, first row of the rank and how many; a negative block: no more.
using Request = std::array<std::int64_t, 3>;
constexpr Request no_more = {-1, 0, 0};

void send(const Context& ctx, int to, std::span<const std::byte> data) {
  const Outgoing out{to, data};
  ctx.communicator->begin_exchange({&out, 1}, {})->wait();
}
void receive(const Context& ctx, int from, std::span<std::byte> data) {
  const Incoming in{from, data};
  ctx.communicator->begin_exchange({}, {&in, 1})->wait();
}

}  // namespace

void RowsOfRanks::each_piece(std::size_t block, const std::function<void(std::span<const std::byte>)>& use) const {
  const OwnRows& own = blocks_[block];
  if (own.row_bytes == 0) return;
  const auto most = static_cast<index_t>(std::max<std::size_t>(1, piece_bytes / own.row_bytes));
  std::vector<std::byte> piece;
  for (int r = 0; r < ctx_.slabs.slabs(); ++r)
    for (index_t begin = 0; begin < ctx_.slabs.rows(r); begin += most) {
      const index_t count = std::min(most, ctx_.slabs.rows(r) - begin);
      piece.resize(static_cast<std::size_t>(count) * own.row_bytes);
      if (r == 0) {
        own.copy(begin, count, piece.data());
      } else {
        const Request request = {static_cast<std::int64_t>(block), begin, count};
        send(ctx_, r, std::as_bytes(std::span(request)));
        receive(ctx_, r, piece);
      }
      use(piece);
    }
}

void with_rows_of_ranks(const Context& ctx, const std::vector<OwnRows>& blocks,
                        const std::function<void(const RowsOfRanks&)>& write) {
  if (ctx.communicator->rank() == 0) {
    const auto end = [&ctx] {
      for (int r = 1; r < ctx.communicator->size(); ++r) send(ctx, r, std::as_bytes(std::span(no_more)));
    };
    try {
      write(RowsOfRanks(ctx, blocks));
    } catch (...) {
      end();
      throw;
    }
    return end();
  }
  std::vector<std::byte> piece;
  for (Request request{};;) {
    receive(ctx, 0, std::as_writable_bytes(std::span(request)));
    if (request == no_more) return;
    const auto& [block, begin, count] = request;
    const OwnRows& own = blocks[static_cast<std::size_t>(block)];
    piece.resize(static_cast<std::size_t>(count) * own.row_bytes);
    own.copy(begin, count, piece.data());
    send(ctx, 0, piece);
  }
}

solvers::RowOrigin row_origin(const std::shared_ptr<const io::RowReader>& reader, const io::ReadOptions& read) {
  const io::Description& d = reader->description();
  return {d.rows, d.cols, d.type, d.chunk_rows,
          [reader, refuse = read.check_finite](index_t first, index_t count, void* out, bool check) {
            reader->read(first, count, check && refuse, out);
          }};
}

}  // namespace ts::app
