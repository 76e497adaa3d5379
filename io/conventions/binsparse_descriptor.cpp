#include "tallskinny/io/conventions/binsparse_descriptor.hpp"

#include <nlohmann/json.hpp>

#include "tallskinny/gemm/core/error.hpp"

namespace ts::inline v0::io {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& cause) {
  throw Error(Errc::bad_input, "has a Binsparse descriptor that " + cause);
}

index_t integer(const Json& value, const std::string& key) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX) return value.get<index_t>();
  if (value.is_number_integer() && !value.is_number_unsigned()) return value.get<index_t>();
  refuse("gives '" + key + "' as something other than a 64-bit integer");
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) refuse("gives '" + std::string(key) + "' as something other than a string");
  return found->get<std::string>();
}

}  // namespace

BinsparseDescriptor parse_binsparse(std::string_view json_text) {
  const Json whole = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) refuse("is not a JSON object");
  const auto nested = whole.find("binsparse");
  const Json& json = nested != whole.end() ? *nested : whole;
  if (!json.is_object()) refuse("is not a JSON object");

  BinsparseDescriptor d;
  d.version = text(json, "version");
  if (!d.version.empty() && d.version != "0.1" && !d.version.starts_with("0.1."))
    refuse("has version " + d.version + "; 0.1 is known here");
  if (const auto format = json.find("format"); format == json.end() || !format->is_string())
    refuse("names no predefined format");
  d.format = text(json, "format");
  const auto shape = json.find("shape");
  if (shape == json.end() || !shape->is_array()) refuse("has no shape");
  for (const Json& size : *shape) d.shape.push_back(integer(size, "shape"));
  for (const index_t size : d.shape)
    if (size < 0) refuse("has a negative shape");
  if (const auto count = json.find("number_of_stored_values"); count != json.end())
    d.stored_values = integer(*count, "number_of_stored_values");
  if (const auto types = json.find("data_types"); types != json.end()) {
    if (!types->is_object()) refuse("gives data_types as something other than an object");
    for (const auto& [name, type] : types->items()) {
      if (!type.is_string()) refuse("gives the type of '" + name + "' as something other than a string");
      d.data_types[name] = type.get<std::string>();
    }
  }
  d.structure = text(json, "structure");
  if (const auto fill = json.find("fill"); fill != json.end()) d.fill = fill->is_boolean() && fill->get<bool>();
  if (const auto base = json.find("index_base"); base != json.end()) d.index_base = integer(*base, "index_base");
  if (d.index_base != 0 && d.index_base != 1) refuse("has index_base " + std::to_string(d.index_base));
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
