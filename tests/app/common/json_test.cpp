#include "tallskinny/app/common/json.hpp"

#include <limits>

#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

TEST_CASE("JSON keeps the order of members and the bits of numbers") {
  JsonObject inner;
  inner.add("b", 1).add("a", true);
  JsonObject json;
  json.add("values", std::vector<double>{0.1, 1e300, 1.0 / 3})
      .add("count", std::int64_t{9007199254740993})
      .add("name", "a \"quoted\" text")
      .add("inner", inner)
      .add("list", std::vector<JsonObject>{inner})
      .add("nan", std::numeric_limits<double>::quiet_NaN())
      .add_null("nothing");
  CHECK(json.text(-1) ==
        R"({"values":[0.1,1e+300,0.3333333333333333],"count":9007199254740993,"name":"a \"quoted\" text",)"
        R"("inner":{"b":1,"a":true},"list":[{"b":1,"a":true}],"nan":null,"nothing":null})");
}

TEST_CASE("JSON survives names that are not UTF-8") {
  JsonObject json;
  json.add("file", std::string("a\xff") + "b");
  CHECK(json.text(-1) ==
        "{\"file\":\"a\xEF\xBF\xBD"
        "b\"}");
}
