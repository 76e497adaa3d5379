// Prints a line for each of a fixed list of results: its name, and a hash of its bits.
#include <cstring>

#include "tallskinny/tests/bench/baseline/results.hpp"

int main(int argc, char** argv) {
  using namespace ts::baseline;
  struct Part {
    const char* name;
    void (*print)();
  };
  constexpr Part parts[] = {
      {"sums", print_sums}, {"rows", print_rows}, {"assign", print_assign}, {"kmeans", print_kmeans}};
  if (argc > 2) {
    std::fprintf(stderr, "Usage: baseline_results [sums|rows|assign|kmeans]\n");
    return 2;
  }
  std::printf("# vector level of this processor: %s\n", std::string(ts::name_of(ts::this_cpu().simd)).c_str());
  for (const Part& part : parts)
    if (argc == 1 || std::strcmp(argv[1], part.name) == 0) part.print();
  return 0;
}
