// Finds rows of a dataset that were never written. HDF5 returns its fill value for them, which looks like data.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "tallskinny/io/hdf5/h5.hpp"
#include "tallskinny/io/hdf5/outside.hpp"
#include "tallskinny/io/hdf5/reader.hpp"
#include "tallskinny/io/memory.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr int deepest_virtual = 8;                  ///< virtual datasets made of virtual datasets
constexpr hsize_t large_chunk = hsize_t{16} << 20;  ///< bytes, from which its expansion is judged
constexpr auto most_rows = std::numeric_limits<index_t>::max();

struct Extent {
  std::vector<hsize_t> size;
  hsize_t row_elements = 1;  ///< elements of an entry of the first dimension
};

Extent extent_of(hid_t space) {
  Extent e;
  const int rank = H5Sget_simple_extent_ndims(space);
  e.size.resize(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, e.size.data(), nullptr);
  for (std::size_t d = 1; d < e.size.size(); ++d)
    if (__builtin_mul_overflow(e.row_elements, e.size[d], &e.row_elements))
      e.row_elements = std::numeric_limits<hsize_t>::max();
  return e;
}

bool is_empty(hid_t space) { return H5Sget_simple_extent_npoints(space) <= 0; }

/// One piece of so many bytes (contiguous, compact, or in external files): what lies behind its end is
/// missing.
std::optional<Node::Rows> behind_the_end(hid_t id, const Extent& extent, hsize_t bytes, Node::Rows rows) {
  const Handle type = own_type(H5Dget_type(id));
  hsize_t row_bytes = 0;
  if (__builtin_mul_overflow(extent.row_elements, H5Tget_size(type.id()), &row_bytes)) return rows;
  const auto whole = static_cast<index_t>(row_bytes == 0 ? most_rows : bytes / row_bytes);
  if (whole >= rows.end) return std::nullopt;
  return Node::Rows{std::max(whole, rows.begin), rows.end};
}

hsize_t external_bytes(hid_t id, hid_t creation) {
  hsize_t there = 0;
  for (const ExternalPart& part : external_parts(id, creation)) {
    std::error_code failed;
    const auto bytes = static_cast<hsize_t>(fs::file_size(part.file, failed));
    const hsize_t found = failed || bytes < part.offset ? 0 : std::min(part.bytes, bytes - part.offset);
    there += found;
    if (found < part.bytes) break;  // nothing behind a file that is too short is where it belongs
  }
  return there;
}

/// The first rows of `rows` with a chunk that was never written. Chunks are looked up one by one: HDF5 counts them by a
/// walk over their index, which is as long as a damaged file says.
std::optional<Node::Rows> without_chunk(const Node& node, hid_t id, hid_t creation, const Extent& extent,
                                        Node::Rows rows) {
  const int rank = static_cast<int>(extent.size.size());
  std::vector<hsize_t> chunk(extent.size.size());
  if (rank == 0 || H5Pget_chunk(creation, rank, chunk.data()) != rank ||
      std::find(chunk.begin(), chunk.end(), hsize_t{0}) != chunk.end())
    node.refuse("has damaged sizes of chunks");
  const Handle type = own_type(H5Dget_type(id));
  hsize_t needed = 1, bytes = H5Tget_size(type.id());
  for (std::size_t d = 0; d < chunk.size(); ++d)
    if (__builtin_mul_overflow(needed, (extent.size[d] - 1) / chunk[d] + 1, &needed) ||
        __builtin_mul_overflow(bytes, chunk[d], &bytes))
      node.refuse("has impossibly many chunks");
  bool deflated = false, others = false;
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const auto filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    others |=
        filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32 && (filter != H5Z_FILTER_DEFLATE || deflated);
    deflated |= filter == H5Z_FILTER_DEFLATE;
  }
  const bool judged = deflated && !others && bytes >= large_chunk;
  // At most as many steps as there are chunks in the file, and one more: then a missing one is found.
  std::optional<Node::Rows> missing;
  std::vector<hsize_t> at(chunk.size());
  const auto step = static_cast<index_t>(chunk[0]);
  for (index_t top = rows.begin / step * step; top < rows.end; top += step) {
    bool whole = true;
    std::fill(at.begin(), at.end(), hsize_t{0});
    at[0] = static_cast<hsize_t>(top);
    for (bool more = true; more && whole;) {
      hsize_t stored = 0;  // HDF5 1.10 gives 0 for a chunk that was never written, later releases an error
      whole = H5Dget_chunk_storage_size(id, at.data(), &stored) >= 0 && stored > 0;
      if (whole && judged && bytes / best_deflate > stored)
        node.refuse(joined("is damaged: a chunk of ", bytes, " bytes cannot be compressed into the ", stored,
                           " bytes that are stored"));
      more = false;
      for (std::size_t d = chunk.size(); d-- > 1 && !more;)
        if (at[d] += chunk[d]; at[d] < extent.size[d])
          more = true;
        else
          at[d] = 0;
    }
    if (whole && missing) break;
    if (whole) continue;
    const index_t end = rows.end - top > step ? top + step : rows.end;
    missing = Node::Rows{missing ? missing->begin : std::max(top, rows.begin), end};
    if (missing->end - missing->begin > (index_t{1} << 16) * step) break;  // long enough a list to tell
    if (rows.end - top <= step) break;                                     // `top` cannot overflow
  }
  return missing;
}

std::optional<Node::Rows> missing_rows_of(const Node& node, hid_t id, Node::Rows rows, int depth);

/// True if the `points` selected elements of a source exist in an open file: the dataset, its extent and its elements.
bool is_there(const Node& node, const Handle& file, const std::string& object, const Handle& selected, hssize_t points,
              int depth) {
  const Handle source = own_dataset(H5Dopen2(file.id(), object.c_str(), H5P_DEFAULT));
  if (!source) return false;
  const Handle space = own_space(H5Dget_space(source.id()));
  const Extent extent = extent_of(space.id());
  if (H5Sget_select_type(selected.id()) == H5S_SEL_ALL) {  // then its extent is that of no file
    if (H5Sget_simple_extent_npoints(space.id()) != points) return false;
    const index_t rows = extent.size.empty() ? 1 : static_cast<index_t>(extent.size[0]);
    return !missing_rows_of(node, source.id(), {0, rows}, depth + 1);
  }
  std::vector<hsize_t> first(extent.size.size()), last(extent.size.size());
  if (extent.size.empty() || H5Sget_simple_extent_ndims(selected.id()) != static_cast<int>(last.size()) ||
      H5Sget_select_bounds(selected.id(), first.data(), last.data()) < 0)
    return false;
  for (std::size_t d = 0; d < last.size(); ++d)
    if (last[d] >= extent.size[d]) return false;
  const Node::Rows wanted{static_cast<index_t>(first[0]), static_cast<index_t>(last[0]) + 1};
  return !missing_rows_of(node, source.id(), wanted, depth + 1);
}

/// True if the selected elements of source i of a virtual dataset exist. Looks in the first file that can be opened, in
/// HDF5's order.
bool source_is_there(const Node& node, hid_t id, hid_t creation, std::size_t i, hssize_t points, int depth) {
  if (depth >= deepest_virtual) return false;
  const VirtualSource source = virtual_source(id, creation, i);
  const Handle selected = own_space(H5Pget_virtual_srcspace(creation, i));
  if (source.places.empty())
    return is_there(node, own_file(H5Iget_file_id(id)), source.object, selected, points, depth);
  for (const fs::path& place : source.places) {
    std::error_code failed;
    if (!fs::is_regular_file(place, failed)) continue;
    const Handle file = own_file(H5Fopen(place.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    if (file) return is_there(node, file, source.object, selected, points, depth);
  }
  return false;
}

/// rest without covered, a selection of boxes. (H5Scombine_select crashes on regular ones in HDF5 1.10.8.)
bool take_away(hid_t rest, hid_t covered, std::size_t rank) {
  if (H5Sget_select_type(covered) != H5S_SEL_HYPERSLABS) return false;
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  if (H5Sis_regular_hyperslab(covered) > 0) {
    return H5Sget_regular_hyperslab(covered, start.data(), stride.data(), count.data(), block.data()) >= 0 &&
           H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, start.data(), stride.data(), count.data(), block.data()) >= 0;
  }
  const hssize_t boxes = H5Sget_select_hyper_nblocks(covered);
  std::vector<hsize_t> corners(2 * rank);
  for (hssize_t i = 0; i < boxes; ++i) {
    if (H5Sget_select_hyper_blocklist(covered, static_cast<hsize_t>(i), 1, corners.data()) < 0) return false;
    for (std::size_t d = 0; d < rank; ++d) block[d] = corners[rank + d] - corners[d] + 1, count[d] = 1;
    if (H5Sselect_hyperslab(rest, H5S_SELECT_NOTB, corners.data(), nullptr, count.data(), block.data()) < 0)
      return false;
  }
  return boxes >= 0;
}

/// The part of `rows` that no source of a virtual dataset covers.
std::optional<Node::Rows> without_source(const Node& node, hid_t id, hid_t creation, const Extent& extent,
                                         Node::Rows rows, int depth) {
  const Handle rest = own_space(H5Dget_space(id));
  std::vector<hsize_t> first(extent.size.size(), 0), last = extent.size;
  if (extent.size.empty()) node.refuse("is a virtual dataset without dimensions");
  first[0] = static_cast<hsize_t>(rows.begin), last[0] = static_cast<hsize_t>(rows.end - rows.begin);
  H5Sselect_hyperslab(rest.id(), H5S_SELECT_SET, first.data(), nullptr, last.data(), nullptr);
  std::size_t sources = 0;
  if (H5Pget_virtual_count(creation, &sources) < 0) node.refuse("has a damaged list of sources");
  for (std::size_t i = 0; i < sources && H5Sget_select_npoints(rest.id()) > 0; ++i) {
    const Handle covered = own_space(H5Pget_virtual_vspace(creation, i));
    const auto points = H5Sget_select_npoints(covered.id());
    if (points < 0 || static_cast<hsize_t>(points) == H5S_UNLIMITED)
      node.refuse(
          "is a virtual dataset that grows with its sources, so rows that are missing cannot be told from "
          "data: copy "
          "it into one dataset, or give --missing-as-fill");
    if (!source_is_there(node, id, creation, i, points, depth)) continue;
    if (H5Sget_select_type(covered.id()) == H5S_SEL_ALL) return std::nullopt;
    if (!take_away(rest.id(), covered.id(), extent.size.size()))
      node.refuse("is a virtual dataset whose sources are not selected by boxes");
  }
  if (H5Sget_select_npoints(rest.id()) <= 0) return std::nullopt;
  H5Sget_select_bounds(rest.id(), first.data(), last.data());
  return Node::Rows{static_cast<index_t>(first[0]), static_cast<index_t>(last[0]) + 1};
}

std::optional<Node::Rows> missing_rows_of(const Node& node, hid_t id, Node::Rows rows, int depth) {
  const Handle space = own_space(H5Dget_space(id)), creation = own_properties(H5Dget_create_plist(id));
  if (is_empty(space.id()) || rows.begin >= rows.end) return std::nullopt;
  if (const auto cause = cause_outside(id, node.trusted())) node.refuse(*cause);
  const Extent extent = extent_of(space.id());
  switch (H5Pget_layout(creation.id())) {
    case H5D_VIRTUAL: return without_source(node, id, creation.id(), extent, rows, depth);
    case H5D_CHUNKED: return without_chunk(node, id, creation.id(), extent, rows);
    default: break;
  }
  const bool external = H5Pget_external_count(creation.id()) > 0;
  return behind_the_end(id, extent, external ? external_bytes(id, creation.id()) : H5Dget_storage_size(id), rows);
}

}  // namespace

std::optional<Node::Rows> Node::missing_rows(Rows rows) const {
  if (remote_) return remote_->ask<&Node::missing_rows>(rows);
  const Quiet quiet;
  return missing_rows_of(*this, object_->id(), rows, 0);
}

std::optional<std::string> Node::outside() const {
  if (remote_) return remote_->ask<&Node::outside>();
  const Quiet quiet;
  return cause_outside(object_->id(), options_.trusted);
}

void Node::require_inside() const {
  if (const auto cause = outside()) refuse(*cause);
}

void Node::require_written(Rows rows) const {
  if (*complete_) return;
  require_inside();
  if (options_.missing_as_fill) return;
  const Quiet quiet;
  const Handle space = own_space(H5Dget_space(object_->id()));
  const Extent extent = extent_of(space.id());
  const Rows all{0, extent.size.empty() ? 1 : static_cast<index_t>(extent.size[0])};
  auto missing = missing_rows(all);
  *complete_ = !missing;  // elements that come in many parts are looked after once
  if (missing && (rows.begin > 0 || rows.end < all.end)) {
    missing = missing_rows(rows);
    if (missing) missing = missing_rows({missing->begin, all.end});  // to tell all of them
  }
  if (!missing) return;
  const index_t last = missing->end - 1;
  refuse((missing->begin == last ? "has no data for row " + std::to_string(last)
                                 : joined("has no data for rows ", missing->begin, " to ", last)) +
         ", counted from 0: they were never written, or lie in a file that is missing; --missing-as-fill "
         "reads them "
         "as the file's fill value");
}

}  // namespace ts::inline v0::io::hdf5
