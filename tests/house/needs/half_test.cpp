#include "tallskinny/tests/support/test.hpp"

TEST_CASE("the half on the processor") { CHECK(false); }
TEST_CASE("the half on a GPU", "[gpu]") { CHECK(false); }
