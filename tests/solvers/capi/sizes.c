/* Sizes of what callers of the C API allocate, a line each. */
#include <stdio.h>

#include "tallskinny/c/tallskinny.h"

int main(void) {
  printf("sizeof ts_solve_options %u\n", (unsigned)sizeof(ts_solve_options));
  printf("sizeof ts_kmeans_options %u\n", (unsigned)sizeof(ts_kmeans_options));
  printf("sizeof DLTensor %u\n", (unsigned)sizeof(DLTensor));
  printf("sizeof DLManagedTensor %u\n", (unsigned)sizeof(DLManagedTensor));
  return 0;
}
