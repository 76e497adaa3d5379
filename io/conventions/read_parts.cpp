#include "tallskinny/io/conventions/parts.hpp"

#include <limits>

#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io {

namespace {

void transpose(SparseParts& p) {
  std::swap(p.rows, p.cols);
  p.by_columns = !p.by_columns;
  if (p.triangle != Triangle::none) p.triangle = p.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
}
void transpose(DenseParts& p) {
  std::swap(p.rows, p.cols);
  p.transposed = !p.transposed;
  if (p.triangle != Triangle::none) p.triangle = p.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
}

}  // namespace

Description describe_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options) {
  Description d;
  d.where = {object.file(), object.path()};
  d.convention = parts.convention;
  d.note = parts.note;
  const auto common = [&](const auto& content) {
    d.stored_type = content.values.type.text;
    d.rows = options.transpose ? content.cols : content.rows;
    d.cols = options.transpose ? content.rows : content.cols;
    d.declared = content.structure;
    if (d.declared != Structure::general && d.rows != d.cols)
      object.refuse(joined("is declared ", name_of(d.declared), " but has ", d.rows, " rows and ", d.cols, " columns"));
  };
  if (const auto* sparse = std::get_if<SparseParts>(&parts.content)) {
    common(*sparse);
    d.sparse = true;
    d.type = result_type_of(sparse->values.type.read_as);
    if (d.cols > std::numeric_limits<std::int32_t>::max())
      object.refuse(joined("has ", d.cols, " columns; sparse matrices can have 2^31 - 1"));
    d.nonzeros = check_sparse_lengths(*sparse, object);
    const bool compressed = sparse->form != SparseParts::Form::pairs;
    const bool turned = sparse->by_columns != options.transpose && compressed;
    d.stored_triangle = sparse->triangle != Triangle::none && compressed;
    d.stored_by_columns = turned && d.rows == d.cols;
    if (turned && d.rows > std::numeric_limits<std::int32_t>::max())
      object.refuse(
          joined("has ", d.rows, " rows in compressed columns; more than 2^31 - 1 rows must be stored by rows"));
    set_sparse_bytes(d, d.declared != Structure::general, turned, sparse->form == SparseParts::Form::pairs);
  } else {
    const auto& dense = std::get<DenseParts>(parts.content);
    common(dense);
    d.type = dense.values.type.read_as;
    check_dense_lengths(dense, object);
    const std::uint64_t elements = product({d.rows, d.cols});
    if (elements > static_cast<std::uint64_t>(std::numeric_limits<index_t>::max()) / 16)
      object.refuse(joined("has the impossible shape ", d.rows, " x ", d.cols));
    d.nonzeros = static_cast<index_t>(elements);
    d.bytes = d.peak_bytes = product({d.nonzeros, static_cast<index_t>(size_of(d.type))});
    if (dense.values.dataset && !dense.flat && dense.transposed == options.transpose)
      d.chunk_rows = dense.values.dataset->chunk_rows();
    const bool triangle = dense.triangle != Triangle::none;
    if (dense.transposed != options.transpose || dense.values.interleaved || triangle)
      d.peak_bytes = sum({d.peak_bytes, std::min(d.bytes, std::uint64_t{16} << 20)});
  }
  return d;
}

MatrixFile read_parts(const Parts& parts, const hdf5::Node& object, const ReadOptions& options) {
  MatrixFile result{describe_parts(parts, object, options), {}};
  const Description& d = result.description;
  const RowRange range = row_range(d.rows, options);
  const auto refuse_none = [&](const Elements& values) {
    if (values.dataset) values.dataset->require_readable();
  };
  if (const auto* sparse = std::get_if<SparseParts>(&parts.content)) {
    SparseParts chosen = *sparse;
    if (options.transpose) transpose(chosen);
    if (!reads_by_range(chosen, d, options)) require_memory(d.peak_bytes, options.memory_limit, object.name());
    refuse_none(chosen.values);
    for (const auto* list : {&chosen.pointers, &chosen.major, &chosen.minor})
      if (*list) (*list)->require_readable();
    result.matrix = read_sparse_parts(chosen, d, object.name(), options);
  } else {
    DenseParts chosen = std::get<DenseParts>(parts.content);
    const std::uint64_t bytes = product({range.count(), d.cols, static_cast<index_t>(size_of(d.type))});
    require_memory(sum({bytes, d.peak_bytes - d.bytes}), options.memory_limit, object.name());
    refuse_none(chosen.values);
    if (options.transpose) transpose(chosen);
    result.matrix = read_dense_parts(chosen, d, object.name(), options);
  }
  return result;
}

}  // namespace ts::inline v0::io
