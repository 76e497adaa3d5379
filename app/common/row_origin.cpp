#include "tallskinny/app/common/row_origin.hpp"

namespace ts::app {

solvers::RowOrigin row_origin(const std::shared_ptr<const io::RowReader>& reader, const io::ReadOptions& read) {
  const io::Description& d = reader->description();
  return {d.rows, d.cols, d.type, d.chunk_rows,
          [reader, refuse = read.check_finite](index_t first, index_t count, void* out, bool check) {
            reader->read(first, count, check && refuse, out);
          }};
}

}  // namespace ts::app
