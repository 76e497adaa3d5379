// Binsparse: a group with a JSON descriptor in its attribute `binsparse` and lists named after levels.
// https://graphblas.org/binsparse-specification

#include <nlohmann/json.hpp>

#include "tallskinny/io/conventions/conventions.hpp"
#include "tallskinny/io/elements.hpp"
#include "tallskinny/io/printable.hpp"

namespace ts::inline v0::io::conventions {

namespace {

using hdf5::Node;

/// Takes "iso[...]" and "complex[...]" off the type that the descriptor gives to the values.
Elements values_of(const Node& group, const BinsparseDescriptor& d) {
  Elements values = elements_of(group.dataset("values"));
  const auto declared = d.data_types.find("values");
  if (declared == d.data_types.end()) return values;
  const auto unwrap = [](std::string& type, const std::string& wrapper) {
    if (!type.starts_with(wrapper + "[") || !type.ends_with("]")) return false;
    type = type.substr(wrapper.size() + 1, type.size() - wrapper.size() - 2);
    return true;
  };
  std::string type = declared->second;
  values.one_for_all = unwrap(type, "iso");
  const bool is_complex = unwrap(type, "complex");
  if (type.find('[') != std::string::npos) group.refuse("has values of the unknown type " + declared->second);
  if (is_complex && values.type.kind == hdf5::ElementType::Kind::real) {
    values.interleaved = true;
    values.type.kind = hdf5::ElementType::Kind::complex;
    values.type.text = "complex of " + values.type.text;
    values.type.read_as = complex_dtype(values.type.read_as);
  } else if (is_complex && values.type.kind != hdf5::ElementType::Kind::complex) {
    group.refuse("declares its values as " + declared->second + ", but they are " + values.type.text);
  }
  return values;
}

template <class AnyParts>
void set_structure(const Node& group, const std::string& structure, AnyParts& parts) {
  if (structure.empty() || structure == "general") return;
  const auto underscore = structure.rfind('_');
  const std::string kind = structure.substr(0, underscore);
  const std::string side = underscore == std::string::npos ? "" : structure.substr(underscore + 1);
  if (kind == "symmetric")
    parts.structure = Structure::symmetric;
  else if (kind == "hermitian")
    parts.structure = Structure::hermitian;
  else if (kind == "skew_symmetric")
    parts.structure = Structure::skew_symmetric;
  if (parts.structure == Structure::general || (side != "lower" && side != "upper"))
    group.refuse("has the unknown Binsparse structure '" + structure + "'");
  parts.triangle = side == "lower" ? Triangle::lower : Triangle::upper;
}

DenseParts dense_parts(const Node& group, const BinsparseDescriptor& d, Shape shape) {
  DenseParts parts;
  parts.rows = shape.rows, parts.cols = shape.cols;
  parts.transposed = d.format == "DMATC";
  parts.flat = true;
  parts.values = values_of(group, d);
  set_structure(group, d.structure, parts);
  return parts;
}

SparseParts sparse_parts(const Node& group, const BinsparseDescriptor& d, Shape shape) {
  SparseParts parts;
  parts.rows = shape.rows, parts.cols = shape.cols;
  parts.values = values_of(group, d);
  parts.announced_nonzeros = d.stored_values;
  parts.index_base = d.index_base;
  set_structure(group, d.structure, parts);
  const std::string& f = d.format;
  if (f == "CVEC" || f == "VEC") {
    parts.form = SparseParts::Form::pairs;
    parts.major = group.dataset("indices_0");
    return parts;
  }
  parts.minor = group.dataset("indices_1");
  if (f == "COO" || f == "COOR" || f == "COOC") {
    parts.form = SparseParts::Form::pairs;
    parts.by_columns = f == "COOC";
    parts.major = group.dataset("indices_0");
  } else if (f == "CSR" || f == "CSC") {
    parts.by_columns = f == "CSC";
    parts.pointers = group.dataset("pointers_to_1");
  } else {
    parts.form = SparseParts::Form::compressed_nonempty;
    parts.by_columns = f == "DCSC";
    parts.pointers = group.dataset("pointers_to_1");
    parts.major = group.dataset("indices_0");
  }
  return parts;
}

}  // namespace

std::optional<Parts> binsparse(const Node& object, const ReadOptions&) {
  if (!object.is_group() || !object.has_attribute("binsparse")) return std::nullopt;
  const auto text = object.text_attribute("binsparse");
  if (!text) object.refuse("has an attribute 'binsparse' that is not a string");
  BinsparseDescriptor d;
  try {
    d = parse_binsparse(*text);
  } catch (const Error& error) {
    object.refuse(error.what());
  }
  const std::string& f = d.format;
  const bool vector = f == "DVEC" || f == "CVEC" || f == "VEC", dense = f == "DVEC" || f.starts_with("DMAT");
  const bool known = vector || f == "DMAT" || f == "DMATR" || f == "DMATC" || f == "CSR" || f == "CSC" || f == "DCSR" ||
                     f == "DCSC" || f == "COO" || f == "COOR" || f == "COOC";
  if (!known) object.refuse("has the Binsparse format '" + f + "', which is not supported");
  if (d.shape.size() != (vector ? 1u : 2u))
    object.refuse(joined("has a Binsparse shape of ", d.shape.size(), " numbers, which does not fit ", f));
  if (d.fill) {
    const auto fill = object.find("fill_value");
    double value = 0;
    if (!fill || fill->is_group() || !fill->element_type().numeric())
      object.refuse("declares a fill value but has none");
    if (fill->element_type().kind == hdf5::ElementType::Kind::complex || length_of(*fill) != 1)
      object.refuse("has a fill value that is not one real number");
    fill->read(0, 1, hdf5::MemoryType::float64, std::as_writable_bytes(std::span(&value, 1)));
    if (value != 0) object.refuse(joined("has the fill value ", value, "; only zero makes a sparse matrix"));
  }
  const Shape shape{d.shape[0], vector ? 1 : d.shape[1]};
  Parts parts{"Binsparse", f, DenseParts{}};
  if (dense)
    parts.content = dense_parts(object, d, shape);
  else
    parts.content = sparse_parts(object, d, shape);
  return parts;
}

}  // namespace ts::inline v0::io::conventions

namespace ts::inline v0::io {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_descriptor(const std::string& cause) {
  throw Error(Errc::bad_input, "has a Binsparse descriptor that " + cause);
}

index_t integer(const Json& value, const std::string& key) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX) return value.get<index_t>();
  if (value.is_number_integer() && !value.is_number_unsigned()) return value.get<index_t>();
  refuse_descriptor("gives '" + key + "' as something other than a 64-bit integer");
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) refuse_descriptor(joined("gives '", key, "' as something other than a string"));
  return found->get<std::string>();
}

}  // namespace

BinsparseDescriptor parse_binsparse(std::string_view json_text) {
  const Json whole = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) refuse_descriptor("is not a JSON object");
  const auto nested = whole.find("binsparse");
  const Json& json = nested != whole.end() ? *nested : whole;
  if (!json.is_object()) refuse_descriptor("is not a JSON object");

  BinsparseDescriptor d;
  d.version = text(json, "version");
  if (!d.version.empty() && d.version != "0.1" && !d.version.starts_with("0.1."))
    refuse_descriptor("has version " + d.version + "; 0.1 is supported");
  if (const auto format = json.find("format"); format == json.end() || !format->is_string())
    refuse_descriptor("names no predefined format");
  d.format = text(json, "format");
  const auto shape = json.find("shape");
  if (shape == json.end() || !shape->is_array()) refuse_descriptor("has no shape");
  for (const Json& size : *shape) d.shape.push_back(integer(size, "shape"));
  for (const index_t size : d.shape)
    if (size < 0) refuse_descriptor("has a negative shape");
  if (const auto count = json.find("number_of_stored_values"); count != json.end())
    d.stored_values = integer(*count, "number_of_stored_values");
  if (const auto types = json.find("data_types"); types != json.end()) {
    if (!types->is_object()) refuse_descriptor("gives data_types as something other than an object");
    for (const auto& [name, type] : types->items()) {
      if (!type.is_string()) refuse_descriptor("gives the type of '" + name + "' as something other than a string");
      d.data_types[name] = type.get<std::string>();
    }
  }
  d.structure = text(json, "structure");
  if (const auto fill = json.find("fill"); fill != json.end()) d.fill = fill->is_boolean() && fill->get<bool>();
  if (const auto base = json.find("index_base"); base != json.end()) d.index_base = integer(*base, "index_base");
  if (d.index_base != 0 && d.index_base != 1) refuse_descriptor("has index_base " + std::to_string(d.index_base));
  return d;
}

std::string format_binsparse(const BinsparseDescriptor& d) {
  Json json = {{"version", d.version}, {"format", d.format}, {"shape", d.shape}, {"data_types", d.data_types}};
  if (d.stored_values) json["number_of_stored_values"] = *d.stored_values;
  if (!d.structure.empty()) json["structure"] = d.structure;
  Json whole = json;
  whole["binsparse"] = std::move(json);
  return whole.dump();
}

}  // namespace ts::inline v0::io
