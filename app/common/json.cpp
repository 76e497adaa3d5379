// The only file of the programs that includes nlohmann's JSON.
#include "tallskinny/app/common/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace ts::app {

struct JsonObject::Impl {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

JsonObject::JsonObject() : impl_(std::make_unique<Impl>()) {}
JsonObject JsonObject::of_schema(std::string_view schema) {
  JsonObject json;
  json.add("schema", "tallskinny/" + std::string(schema)).add("version", 1);
  return json;
}
JsonObject::JsonObject(const JsonObject& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
JsonObject::~JsonObject() = default;

template <class Value>
JsonObject& JsonObject::set(std::string_view name, Value&& value) {
  impl_->json[std::string(name)] = std::forward<Value>(value);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, bool value) { return set(name, value); }
JsonObject& JsonObject::add(std::string_view name, int value) { return set(name, value); }
JsonObject& JsonObject::add(std::string_view name, std::int64_t value) { return set(name, value); }
JsonObject& JsonObject::add(std::string_view name, std::uint64_t value) { return set(name, value); }
JsonObject& JsonObject::add(std::string_view name, double value) { return set(name, value); }
JsonObject& JsonObject::add(std::string_view name, std::string_view value) { return set(name, std::string(value)); }
JsonObject& JsonObject::add(std::string_view name, const std::vector<double>& values) { return set(name, values); }
JsonObject& JsonObject::add(std::string_view name, const std::vector<std::int64_t>& values) {
  return set(name, values);
}
JsonObject& JsonObject::add(std::string_view name, const std::vector<std::string>& values) { return set(name, values); }
JsonObject& JsonObject::add(std::string_view name, const JsonObject& value) { return set(name, value.impl_->json); }
JsonObject& JsonObject::add(std::string_view name, const std::vector<JsonObject>& values) {
  auto array = nlohmann::ordered_json::array();
  for (const JsonObject& value : values) array.push_back(value.impl_->json);
  return set(name, std::move(array));
}
JsonObject& JsonObject::add_null(std::string_view name) { return set(name, nullptr); }

std::string JsonObject::text(int indent) const {
  return impl_->json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ts::app
