// What a terminal would obey is written out.
#include "tallskinny/io/printable.hpp"

#include "tallskinny/tests/io/support.hpp"

using namespace ts;

TEST_CASE("text for a terminal keeps characters and spells out orders") {
  CHECK(io::printable("a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "a b/c\\\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(io::printable("\x1b[31m\n\r\t\x7f") == "\\x1b[31m\\x0a\\x0d\\x09\\x7f");
  CHECK(io::printable("\xc2\x9b") == "\\xc2\\x9b");                       // the second set of control characters
  CHECK(io::printable("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8") ==  // orders of direction, a line's end
        "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\xa8");
  CHECK(io::printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(io::printable("\xed\xa0\x80\xe0\x80\x80") == "\\xed\\xa0\\x80\\xe0\\x80\\x80");  // no characters
  CHECK(io::printable("\x9b\xff\xe2\x82") == "\\x9b\\xff\\xe2\\x82");                    // no UTF-8
  CHECK(io::Location{"a\nb.h5", "/\x1b"}.text() == "a\\x0ab.h5:/\\x1b");
}
