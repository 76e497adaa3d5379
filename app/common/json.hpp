// The one JSON object that a program prints with --json.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ts::app {

/// Members keep the order in which they were added. Doubles are written so that they read back to the same
/// bits; NaN and infinities, which JSON does not know, become null.
class JsonObject {
 public:
  JsonObject();
  /// The result of a program: begins with `schema`, the name of what app/schemas/ says of its members, and with
  /// `version`, which grows when a member changes its meaning or goes.
  [[nodiscard]] static JsonObject of_schema(std::string_view schema);
  JsonObject(const JsonObject& other);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(JsonObject other) noexcept;
  ~JsonObject();

  JsonObject& add(std::string_view name, bool value);
  JsonObject& add(std::string_view name, int value);
  JsonObject& add(std::string_view name, std::int64_t value);
  JsonObject& add(std::string_view name, std::uint64_t value);
  JsonObject& add(std::string_view name, double value);
  JsonObject& add(std::string_view name, std::string_view value);
  JsonObject& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
  JsonObject& add(std::string_view name, const std::string& value) { return add(name, std::string_view(value)); }
  JsonObject& add(std::string_view name, const std::vector<double>& values);
  JsonObject& add(std::string_view name, const std::vector<std::int64_t>& values);
  JsonObject& add(std::string_view name, const std::vector<std::string>& values);
  JsonObject& add(std::string_view name, const JsonObject& value);
  JsonObject& add(std::string_view name, const std::vector<JsonObject>& values);
  JsonObject& add_null(std::string_view name);

  /// Text that is not UTF-8 (a file name may be anything) has its stray bytes replaced.
  /// `indent` < 0: all on one line.
  [[nodiscard]] std::string text(int indent = 2) const;

 private:
  struct Impl;
  template <class Value>
  JsonObject& set(std::string_view name, Value&& value);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ts::app
