#include "tallskinny/io/row_reader.hpp"

#include "tallskinny/io/choose.hpp"
#include "tallskinny/io/read_parts.hpp"

namespace ts::io {

struct RowReader::State {
  std::string name;
  DenseParts parts;
  Description description;
  RowRange range;
};

bool RowReader::reads(const Description& matrix, const ReadOptions& options) {
  return hdf5::has_signature(matrix.where.file) && !matrix.sparse && !options.transpose &&
         matrix.peak_bytes == matrix.bytes && matrix.declared == Structure::general;
}

RowReader::RowReader(const Location& where, const ReadOptions& options) {
  const Chosen chosen = choose(open_hdf5(where.file, options), where.object, options);
  Description d = describe_parts(chosen.parts, chosen.object, options);
  expects(reads(d, options), "a RowReader reads dense matrices in HDF5 that are stored by rows");
  const auto& parts = std::get<DenseParts>(chosen.parts.body);
  if (parts.values.dataset) parts.values.dataset->require_readable();
  const RowRange range = row_range(d.rows, options);
  d.rows = range.count();
  state_ = std::make_unique<State>(State{chosen.object.name(), parts, std::move(d), range});
}

RowReader::~RowReader() = default;

const Description& RowReader::description() const noexcept { return state_->description; }

void RowReader::read(index_t first, index_t count, bool finite, void* out) const {
  const index_t begin = state_->range.begin + first;
  expects(first >= 0 && count >= 0 && begin + count <= state_->range.end, "rows outside of the matrix");
  read_dense_rows(state_->parts, state_->description.type, {begin, begin + count}, state_->name, finite, out);
}

}  // namespace ts::io
