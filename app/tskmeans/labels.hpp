// Labels, of which every rank has those of its points, in one file.
#pragma once

#include <span>

#include "tallskinny/app/common/rows_of_ranks.hpp"

namespace ts::tskmeans {

/// The memory must outlive it.
[[nodiscard]] inline app::OwnRows own_labels(std::span<const std::int32_t> labels) {
  return app::own_rows<std::int32_t>(HostView<const std::int32_t>(labels.data(), std::ssize(labels), 1));
}

/// Writes those of all ranks. @param labels of this one, which are block 0 of `ranks`.
inline void write_labels(io::OutputFile& file, const Context& ctx, const app::RowsOfRanks& ranks,
                         std::span<const std::int32_t> labels) {
  if (ctx.communicator->size() == 1)
    file.write("labels", labels);
  else
    app::write_rows<std::int32_t>(file, "labels", ranks, 0, all_rows(ctx, std::ssize(labels)), -1);
}

}  // namespace ts::tskmeans
