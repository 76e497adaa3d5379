// 10x Genomics: compressed columns of features x barcodes in a group that also lists the barcodes.
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"

namespace ts::inline v0::io::conventions {

std::optional<Parts> ten_x(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_group()) return std::nullopt;
  for (const char* name : {"barcodes", "data", "indices", "indptr", "shape"})
    if (!object.has(name)) return std::nullopt;
  const Shape shape = checked_shape(object, object.dataset("shape").integers(), "dataset 'shape'");
  return Parts{"10x Genomics", "rows are features, columns are barcodes: --transpose makes cells the rows",
               compressed(shape, true, object.dataset("indptr"), object.dataset("indices"),
                          elements_of(object.dataset("data")))};
}

}  // namespace ts::inline v0::io::conventions
