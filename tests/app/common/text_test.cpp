#include "tallskinny/app/common/text.hpp"

#include <limits>

#include "tallskinny/app/common/console.hpp"
#include "tallskinny/tests/support/test.hpp"

using namespace ts::app;

TEST_CASE("bytes, durations and numbers read well") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(1536) == "1.50 KiB");
  CHECK(human_bytes((1ull << 20) - 1) == "1.00 MiB");
  CHECK(human_bytes(12ull << 30) == "12.0 GiB");
  CHECK(human_bytes(UINT64_MAX) == "16.0 EiB");
  CHECK(human_seconds(0) == "0 us");
  CHECK(human_seconds(0.0123) == "12 ms");
  CHECK(human_seconds(1.25) == "1.25 s");
  CHECK(human_seconds(185) == "3 min 05 s");
  CHECK(human_seconds(7800) == "2 h 10 min");
  CHECK(human_seconds(std::numeric_limits<double>::infinity()) == "?");
  CHECK(grouped(0) == "0");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(short_number(0.1) == "0.1");
}

TEST_CASE("words for a shell are quoted where they must be") {
  CHECK(shell_word("-k") == "-k");
  CHECK(shell_word("a/b.h5:/x") == "a/b.h5:/x");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("k-means||") == "'k-means||'");
  CHECK(shell_word("it's") == "'it'\\''s'");
}

TEST_CASE("the progress line shows what is done and the time taken, within the terminal") {
  CHECK(progress_line("reading", 2, 80) == "reading  2.00 s");
  CHECK(progress_line("starting", 0.2, 80) == "starting  200 ms");
  for (std::size_t width = 0; width < 200; ++width)
    for (const std::size_t words : {0, 5, 40, 200})
      CHECK(progress_line(std::string(words, 'x'), 100, width).size() + (width > 0 ? 1 : 0) <= width);
  const std::string text = "start 10 of 20, 1,024 clusters, iteration 123 of at most 300, 1,234,567 labels changed";
  const std::string line = progress_line(text, 4000, 80);
  CHECK(line.size() == 79);
  CHECK(line.ends_with("...  1 h 06 min"));
  // A character of several bytes is not cut.
  for (std::size_t width = 12; width < 30; ++width) {
    const std::string cut =
        progress_line("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 1, width);
    CHECK(cut.find("\xc3.") == std::string::npos);
    CHECK(cut.find("\xc3 ") == std::string::npos);
  }
}

TEST_CASE("iterations are told with their bound and what each takes, from the first one of a start on") {
  Pace pace;
  CHECK(pace.text(1, 300) == "iteration 1 of at most 300");
  const std::string third = pace.text(3, 300);
  CHECK(third.starts_with("iteration 3 of at most 300, "));
  CHECK(third.ends_with(" each"));
  CHECK(pace.text(2, 0) == "iteration 2");  // of another start
  CHECK(pace.text(1003, 0).starts_with("iteration 1,003, "));
}
