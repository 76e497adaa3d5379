/* Eigenvalues, clusters and a product from C99. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tallskinny/c/tallskinny.h"

enum { N = 800 };
static const double pi = 3.14159265358979323846;

static void check(ts_status status, const char *what) {
  if (status == TS_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, ts_status_name(status), ts_last_error());
  exit(1);
}

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(1);
}

/* The second difference of x, without a matrix: y = 2 x - left - right. */
static int line(void *user, int64_t cols, const double *x, int64_t ldx, double *y, int64_t ldy) {
  int64_t i, j;
  (void)user;
  for (i = 0; i < N; ++i)
    for (j = 0; j < cols; ++j)
      y[i * ldy + j] = 2 * x[i * ldx + j] - (i > 0 ? x[(i - 1) * ldx + j] : 0) - (i + 1 < N ? x[(i + 1) * ldx + j] : 0);
  return 0;
}

static int count_calls(void *user, double fraction, int64_t done, int64_t wanted) {
  (void)fraction, (void)done, (void)wanted;
  ++*(int *)user;
  return 0;
}

static void eigenvalues(ts_context *ctx) {
  ts_matrix *a;
  ts_result *pairs;
  ts_solve_options options;
  DLManagedTensor *values, *vectors;
  const double *lambda;
  int k, calls = 0;
  check(ts_matrix_from_function(N, line, NULL, &a), "the matrix");
  ts_solve_options_init(&options);
  options.which = TS_SA, options.progress = count_calls, options.user = &calls;
  check(ts_eigsh(ctx, a, 3, &options, &pairs), "eigenvalues");
  printf("%s\n", ts_result_reason(pairs));
  check(ts_result_array(pairs, TS_VALUES, &values), "values");
  check(ts_result_array(pairs, TS_VECTORS, &vectors), "vectors");
  expect(ts_result_converged(pairs) && ts_result_complete(pairs), "the set is complete");
  ts_result_destroy(pairs); /* the arrays stay */
  lambda = (const double *)values->dl_tensor.data;
  expect(vectors->dl_tensor.shape[0] == N && vectors->dl_tensor.shape[1] == 3, "three vectors");
  expect(calls > 0, "progress is told");
  for (k = 0; k < 3; ++k) {
    const double s = sin((k + 1) * pi / (2.0 * (N + 1)));
    printf("%.12g\n", lambda[k]);
    expect(fabs(lambda[k] - 4 * s * s) < 1e-9, "an eigenvalue");
  }
  values->deleter(values);
  vectors->deleter(vectors);
  ts_matrix_destroy(a);
}

static void clusters(ts_context *ctx) {
  static double points[2 * N];
  double g[4], inertia;
  ts_matrix *rows, *gram;
  ts_result *found;
  DLManagedTensor *labels;
  const int32_t *label;
  int i;
  for (i = 0; i < N / 2; ++i) points[2 * i] = 8;
  check(ts_matrix_dense(points, N, 2, 2, &rows), "points");
  check(ts_matrix_dense(g, 2, 2, 2, &gram), "a Gram matrix");
  check(ts_gram(ctx, rows, gram), "the product");
  expect(g[0] == 64.0 * N / 2 && g[1] == 0 && g[3] == 0, "the Gram matrix");
  check(ts_kmeans(ctx, rows, 2, NULL, &found), "clusters");
  check(ts_result_array(found, TS_LABELS, &labels), "labels");
  check(ts_result_number(found, TS_INERTIA, &inertia), "inertia");
  label = (const int32_t *)labels->dl_tensor.data;
  expect(inertia == 0 && label[0] != label[N - 1], "the clusters");
  labels->deleter(labels);
  ts_result_destroy(found);
  ts_matrix_destroy(rows);
  ts_matrix_destroy(gram);
}

int main(void) {
  ts_context *ctx;
  ts_result *none = NULL;
  check(ts_context_create(0, &ctx), "the context");
  printf("tallskinny %s\n", ts_version());
  eigenvalues(ctx);
  clusters(ctx);
  expect(ts_eigsh(ctx, NULL, 3, NULL, &none) == TS_INVALID_ARGUMENT, "a null matrix is refused");
  expect(ts_last_error()[0] != '\0', "and told of");
  ts_context_destroy(ctx);
  return 0;
}
