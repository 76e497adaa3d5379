#include "tallskinny/io/row_reader.hpp"

#include "tallskinny/gemm/core/by_type.hpp"
#include "tallskinny/io/binary/npy.hpp"
#include "tallskinny/io/conventions/choose.hpp"
#include "tallskinny/io/conventions/read_parts.hpp"
#include "tallskinny/io/file/missing.hpp"
#include "tallskinny/io/matrix/assembly.hpp"

namespace ts::inline v0::io {

struct RowReader::State {
  std::unique_ptr<const FileBytes> file;  ///< as it was when it was opened
  Description description;
  RowRange range;
  ReadRows read;
  std::optional<MissingValues> missing = {};
};

bool RowReader::reads(const Description& matrix, const ReadOptions& options) {
  return (matrix.convention == "npy" || hdf5::has_signature(matrix.where.file)) && !matrix.sparse &&
         !options.transpose && !options.table.selects() && matrix.peak_bytes == matrix.bytes &&
         matrix.declared == Structure::general;
}

RowReader::RowReader(const Location& where, const ReadOptions& options) {
  auto file = std::make_unique<const FileBytes>(where.file);
  Description d;
  ReadRows read;
  const auto expect_readable = [&] {
    expects(reads(d, options), "a RowReader reads dense matrices in HDF5 or .npy that are stored by rows");
  };
  if (hdf5::has_signature(where.file)) {
    const Chosen chosen = choose(open_hdf5(where.file, options), where.object, options);
    d = describe_parts(chosen.parts, chosen.object, options);
    expect_readable();
    const auto& parts = std::get<DenseParts>(chosen.parts.body);
    if (parts.values.dataset) parts.values.dataset->require_readable();
    read = [name = chosen.object.name(), parts, type = d.type](RowRange rows, bool finite, void* out) {
      read_dense_rows(parts, type, rows, name, finite, out);
    };
  } else {
    d = describe(where, with_missing(options));
    expect_readable();
    read = npy_rows(where);
  }
  std::optional<MissingValues> missing;
  if (options.table.missing != Missing::refuse) {
    missing.emplace(d, options.table.missing, [&](RowRange rows, void* out) { read(rows, false, out); });
    missing->describe(d);
  }
  const RowRange range = row_range(d.rows, options);
  d.rows = range.count();
  state_ = std::make_unique<State>(State{std::move(file), std::move(d), range, std::move(read), std::move(missing)});
}

RowReader::~RowReader() = default;

const Description& RowReader::description() const noexcept { return state_->description; }

void RowReader::read(index_t first, index_t count, bool finite, void* out) const {
  const index_t begin = state_->range.begin + first;
  expects(first >= 0 && count >= 0 && begin + count <= state_->range.end, "rows outside of the matrix");
  const auto& [file, d, range, read, missing] = *state_;
  if (missing)
    missing->read(
        {begin, begin + count}, [&read = read](RowRange rows, void* to) { read(rows, false, to); }, out);
  else
    read({begin, begin + count}, finite, out);
  if (!file->unchanged())
    throw Error(Errc::bad_input, d.where.text() +
                                     " was changed while it was read, so that its rows are old and new "
                                     "ones: run again once it stays as it is");
  if (!missing || !finite) return;
  by_real_type(d.type, [&, &where = d.where, cols = d.cols]<class T>(std::type_identity<T>) {
    check_finite(HostView<const T>::unchecked(static_cast<const T*>(out), count, cols, cols), begin, where.text());
  });
}

}  // namespace ts::inline v0::io
