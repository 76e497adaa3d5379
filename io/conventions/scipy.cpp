// Arrays named data, indices and indptr: scipy.sparse matrices written one by one, AnnData and 10x Genomics.
#include "tallskinny/io/conventions/conventions.hpp"

#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::conventions {

namespace {

/// A property that people store as a dataset or as an attribute.
std::optional<std::vector<index_t>> integers(const hdf5::Node& group, const char* name) {
  if (const auto dataset = group.find(name)) return dataset->integers();
  return group.integer_attribute(name);
}
std::optional<std::string> text(const hdf5::Node& group, const char* name) {
  if (const auto dataset = group.find(name)) return dataset->text();
  return group.text_attribute(name);
}

}  // namespace

std::optional<Parts> scipy(const hdf5::Node& object, const ReadOptions& options) {
  if (!object.is_group() || !object.has("data")) return std::nullopt;
  const bool is_compressed = object.has("indptr") && object.has("indices");
  const bool is_pairs = object.has("row") && object.has("col");
  if (!is_compressed && !is_pairs) return std::nullopt;
  const auto sizes = integers(object, "shape");
  if (!sizes) object.refuse("holds the arrays of a SciPy matrix but no 'shape' of two integers");
  const Shape shape = checked_shape(object, sizes, "'shape'");
  const auto format = text(object, "format");
  if (format && *format != "csr" && *format != "csc" && *format != "coo")
    object.refuse("has the SciPy format '" + *format + "'; csr, csc and coo can be read");

  Elements values = elements_of(object.dataset("data"));
  if (!is_compressed) {
    SparseParts pairs;
    pairs.form = SparseParts::Form::pairs;
    pairs.rows = shape.rows, pairs.cols = shape.cols;
    pairs.major = object.dataset("row"), pairs.minor = object.dataset("col");
    pairs.values = std::move(values);
    return Parts{"SciPy", "COO", pairs};
  }
  hdf5::Node pointers = object.dataset("indptr");
  const bool by_columns = format ? *format == "csc" : decide_by_columns(object, shape, length_of(pointers), options);
  return Parts{"SciPy", by_columns ? "CSC" : "CSR",
               compressed(shape, by_columns, std::move(pointers), object.dataset("indices"), std::move(values))};
}

namespace {

// AnnData 0.8 and later (h5ad): `encoding-type` says what a group or dataset is. Before that, h5sparse's
// attributes did. https://anndata.readthedocs.io/en/latest/fileformat-prose.html

Parts three_lists(const hdf5::Node& group, const std::string& convention, const char* shape_attribute,
                  bool by_columns) {
  const Shape shape =
      checked_shape(group, group.integer_attribute(shape_attribute), joined("attribute '", shape_attribute, "'"));
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

/// 10x Genomics: compressed columns of features x barcodes in a group that also lists the barcodes. Read as barcodes x
/// features, as scanpy and Seurat hand cells on to what clusters them.
std::optional<Parts> ten_x(const hdf5::Node& object, const ReadOptions& options) {
  if (!object.is_group()) return std::nullopt;
  for (const char* name : {"barcodes", "data", "indices", "indptr", "shape"})
    if (!object.has(name)) return std::nullopt;
  const Shape shape = checked_shape(object, object.dataset("shape").integers(), "dataset 'shape'");
  return Parts{"10x Genomics",
               options.transpose
                   ? "rows are features, columns are barcodes (cells)"
                   : "rows are barcodes (cells), columns are features: --transpose makes features the rows",
               compressed({shape.cols, shape.rows}, false, object.dataset("indptr"), object.dataset("indices"),
                          elements_of(object.dataset("data")))};
}

}  // namespace ts::inline v0::io::conventions
