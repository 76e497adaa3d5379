// Says which needs of tests are not met here, a line each: "gpu: why not".
#include "tallskinny/tests/support/needs.hpp"

#include <filesystem>
#include <iostream>

int main() {
  for (const std::string_view need : ts::test::needs)
    if (const std::string reason = ts::test::obstacle_to(need); !reason.empty())
      std::cout << need << ": " << reason << '\n';
  if (!std::filesystem::exists(TS_RESULTS)) std::cout << "results: there is no folder " TS_RESULTS "\n";
}
