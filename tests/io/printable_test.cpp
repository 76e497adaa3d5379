// What a terminal would obey is written out.
#include "tallskinny/io/printable.hpp"

#include "tallskinny/tests/io/support.hpp"

using namespace ts;

TEST_CASE("text for a terminal keeps characters and spells out orders") {
  CHECK(io::printable("a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(io::printable("\x1b[31m\n\r\t\x7f") == "\\x1b[31m\\x0a\\x0d\\x09\\x7f");
  CHECK(io::printable("\xc2\x9b") == "\\xc2\\x9b");                    // the second set of control characters
  CHECK(io::printable("\x9b\xff\xe2\x82") == "\\x9b\\xff\\xe2\\x82");  // no UTF-8
  CHECK(io::Location{"a\nb.h5", "/\x1b"}.text() == "a\\x0ab.h5:/\\x1b");
}
