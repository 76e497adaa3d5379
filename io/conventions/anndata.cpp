// AnnData 0.8 and later (h5ad): `encoding-type` says what a group or dataset is. Before that, h5sparse's
// attributes did. https://anndata.readthedocs.io/en/latest/fileformat-prose.html
#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/conventions/pieces.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::conventions {

namespace {

Parts three_lists(const hdf5::Node& group, const std::string& convention, const char* shape_attribute,
                  bool by_columns) {
  const Shape shape = checked_shape(group, group.integer_attribute(shape_attribute),
                                    "attribute '" + std::string(shape_attribute) + "'");
  return {convention, by_columns ? "CSC" : "CSR",
          compressed(shape, by_columns, group.dataset("indptr"), group.dataset("indices"),
                     elements_of(group.dataset("data")))};
}

}  // namespace

std::optional<Parts> anndata(const hdf5::Node& object, const ReadOptions&) {
  const auto encoding = object.text_attribute("encoding-type");
  if (!encoding) return std::nullopt;
  if (object.is_dataset()) {
    const auto dims = object.dims();
    if (*encoding != "array" || !dims || dims->size() < 2) return std::nullopt;
    return dense_dataset(object, "AnnData");
  }
  if (*encoding == "csr_matrix" || *encoding == "csc_matrix")
    return three_lists(object, "AnnData", "shape", *encoding == "csc_matrix");
  const auto no_matrix = [&](const std::string& words) { throw NotAMatrix(object.name() + " is " + words); };
  if (*encoding == "dataframe")
    no_matrix("an AnnData data frame, a table of columns (" + listed(object.children()) + "): " + object.name() +
              "/COLUMN reads one of them, and in Python frame.to_numpy() makes one matrix of all");
  if (*encoding == "categorical")
    no_matrix("an AnnData column of categories: " + object.name() + "/codes holds their numbers");
  if (encoding->starts_with("nullable-"))
    no_matrix("an AnnData column that may lack values: " + object.name() + "/values holds them, and /mask says which");
  return std::nullopt;
}

std::optional<Parts> h5sparse(const hdf5::Node& object, const ReadOptions&) {
  if (!object.is_group()) return std::nullopt;
  const auto format = object.text_attribute("h5sparse_format");
  if (!format) return std::nullopt;
  if (*format != "csr" && *format != "csc")
    object.refuse("has h5sparse format '" + *format + "'; csr and csc can be read");
  return three_lists(object, "h5sparse", "h5sparse_shape", *format == "csc");
}

}  // namespace ts::inline v0::io::conventions
