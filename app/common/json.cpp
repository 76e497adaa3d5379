// The only file of the programs that includes nlohmann's JSON.
#include "tallskinny/app/common/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace ts::app {

struct JsonObject::Body {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

JsonObject::JsonObject() : body_(std::make_unique<Body>()) {}
JsonObject JsonObject::of_schema(std::string_view schema) {
  JsonObject json;
  json.add("schema", "tallskinny/" + std::string(schema)).add("version", 1);
  return json;
}
JsonObject::JsonObject(const JsonObject& other) : body_(std::make_unique<Body>(*other.body_)) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject other) noexcept {
  std::swap(body_, other.body_);
  return *this;
}
JsonObject::~JsonObject() = default;

JsonObject& JsonObject::add(std::string_view name, bool value) {
  body_->json[std::string(name)] = value;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, int value) {
  body_->json[std::string(name)] = value;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::int64_t value) {
  body_->json[std::string(name)] = value;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::uint64_t value) {
  body_->json[std::string(name)] = value;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, double value) {
  body_->json[std::string(name)] = value;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  body_->json[std::string(name)] = std::string(value);
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::span<const double> values) {
  body_->json[std::string(name)] = std::vector<double>(values.begin(), values.end());
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::span<const float> values) {
  body_->json[std::string(name)] = std::vector<float>(values.begin(), values.end());
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::span<const std::int64_t> values) {
  body_->json[std::string(name)] = std::vector<std::int64_t>(values.begin(), values.end());
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::span<const std::int32_t> values) {
  body_->json[std::string(name)] = std::vector<std::int32_t>(values.begin(), values.end());
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& values) {
  body_->json[std::string(name)] = values;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, const JsonObject& value) {
  body_->json[std::string(name)] = value.body_->json;
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, const std::vector<JsonObject>& values) {
  auto array = nlohmann::ordered_json::array();
  for (const JsonObject& value : values) array.push_back(value.body_->json);
  body_->json[std::string(name)] = std::move(array);
  return *this;
}
JsonObject& JsonObject::add_null(std::string_view name) {
  body_->json[std::string(name)] = nullptr;
  return *this;
}

std::string JsonObject::text(int indent) const {
  return body_->json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ts::app
