/* Each function of the C API on a matrix with known answers; and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tallskinny/c/tallskinny.h"

enum { N = 700 };

#define EXPECT(condition)                                                  \
  do {                                                                     \
    if (!(condition)) {                                                    \
      fprintf(stderr, "%d: %s: %s\n", __LINE__, #condition, ts_last_error()); \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

static ts_context *ctx;
static int64_t pointers[N + 1];
static int32_t columns[N];
static double diagonal[N]; /* 1, 2, ..., N */

static double value(const ts_result *result, ts_array which, int i) {
  DLManagedTensor *t;
  double x;
  EXPECT(ts_result_array(result, which, &t) == TS_OK);
  EXPECT(t->dl_tensor.dtype.code == kDLFloat && t->dl_tensor.dtype.bits == 64);
  x = ((const double *)t->dl_tensor.data)[i];
  t->deleter(t);
  return x;
}

static int stop_now(void *user, double fraction, int64_t done, int64_t wanted) {
  (void)user, (void)fraction, (void)done, (void)wanted;
  return 1;
}

static void spectra(void) {
  ts_matrix *a;
  ts_result *r;
  ts_solve_options o;
  DLManagedTensor *t;
  const double *z;
  EXPECT(ts_matrix_csr(N, N, pointers, columns, diagonal, &a) == TS_OK);
  EXPECT(ts_eigsh(ctx, a, 2, NULL, &r) == TS_OK);
  EXPECT(ts_result_converged(r) && ts_result_complete(r));
  EXPECT(fabs(value(r, TS_VALUES, 1) - (N - 1)) < 1e-5);
  EXPECT(value(r, TS_BACKWARD_ERRORS, 1) < 1e-7);
  ts_result_destroy(r);

  ts_solve_options_init(&o);
  o.has_sigma = 1, o.sigma = 10.2, o.which = TS_SM;
  EXPECT(ts_eigsh(ctx, a, 1, &o, &r) == TS_OK);
  EXPECT(fabs(value(r, TS_VALUES, 0) - 10) < 1e-7);
  ts_result_destroy(r);
  o.mass = a; /* A x = lambda A x */
  o.has_sigma = 0, o.which = TS_LA;
  EXPECT(ts_eigsh(ctx, a, 1, &o, &r) == TS_OK);
  EXPECT(fabs(value(r, TS_VALUES, 0) - 1) < 1e-7);
  ts_result_destroy(r);

  EXPECT(ts_eigs(ctx, a, 1, NULL, &r) == TS_OK);
  EXPECT(ts_result_array(r, TS_VALUES, &t) == TS_OK);
  EXPECT(t->dl_tensor.dtype.code == kDLComplex);
  z = (const double *)t->dl_tensor.data;
  EXPECT(fabs(z[0] - N) < 1e-4 && fabs(z[1]) < 1e-6);
  t->deleter(t);
  ts_result_destroy(r);

  EXPECT(ts_svds(ctx, a, 2, NULL, &r) == TS_OK);
  EXPECT(fabs(value(r, TS_VALUES, 0) - N) < 1e-4);
  EXPECT(fabs(fabs(value(r, TS_LEFT_VECTORS, 2 * (N - 1))) - 1) < 1e-4);
  ts_result_destroy(r);

  ts_solve_options_init(&o);
  o.progress = stop_now, o.which = TS_LM, o.max_iterations = 3;
  EXPECT(ts_eigsh(ctx, a, 40, &o, &r) == TS_OK);
  EXPECT(!ts_result_complete(r) && ts_result_reason(r)[0] != '\0');
  ts_result_destroy(r);
  ts_matrix_destroy(a);
}

static void products(void) {
  static double x[2 * N], y[2 * N], s[4] = {0, 1, 1, 0}, c[4];
  ts_matrix *a, *mx, *my, *ms, *mc;
  int i;
  for (i = 0; i < N; ++i) x[2 * i] = 1, x[2 * i + 1] = 2;
  EXPECT(ts_matrix_csr(N, N, pointers, columns, diagonal, &a) == TS_OK);
  EXPECT(ts_matrix_dense(x, N, 2, 2, &mx) == TS_OK && ts_matrix_dense(y, N, 2, 2, &my) == TS_OK);
  EXPECT(ts_matrix_dense(s, 2, 2, 2, &ms) == TS_OK && ts_matrix_dense(c, 2, 2, 2, &mc) == TS_OK);
  EXPECT(ts_spmm(ctx, a, mx, my) == TS_OK);
  EXPECT(y[2 * 9] == 10 && y[2 * 9 + 1] == 20);
  EXPECT(ts_tsmm(ctx, mx, ms, my) == TS_OK);
  EXPECT(y[0] == 2 && y[1] == 1);
  EXPECT(ts_tsmttsm(ctx, mx, my, mc) == TS_OK);
  EXPECT(c[0] == 2.0 * N && c[3] == 2.0 * N && c[1] == 1.0 * N);
  EXPECT(ts_gram(ctx, mx, mc) == TS_OK && c[3] == 4.0 * N);
  EXPECT(ts_tsmm(ctx, mx, mx, my) == TS_INVALID_ARGUMENT);
  EXPECT(ts_gram(ctx, a, mc) == TS_INVALID_ARGUMENT && strstr(ts_last_error(), "dense") != NULL);
  ts_matrix_destroy(a), ts_matrix_destroy(mx), ts_matrix_destroy(my), ts_matrix_destroy(ms), ts_matrix_destroy(mc);
}

static int released;
static void release(DLManagedTensor *self) {
  ++released;
  free(self);
}

static int64_t calls;
static int count_calls(void *user, double fraction, int64_t done, int64_t wanted) {
  (void)user, (void)fraction, (void)done, (void)wanted;
  ++calls;
  return 0;
}

static void batch_of_clusters(void) {
  static float points[3 * N];
  static int64_t shape[2] = {N, 1};
  const ts_matrix *rows[4];
  ts_matrix *made[3];
  ts_result *found[4], *alone;
  ts_kmeans_options o;
  double inertia, of_alone;
  int b, i;
  for (i = 0; i < 3 * N; ++i) points[i] = (float)(i * 7919 % 1009);
  for (b = 0; b < 3; ++b) {
    DLManagedTensor *t = calloc(1, sizeof *t);
    t->dl_tensor.data = points + b * N, t->dl_tensor.device.device_type = kDLCPU, t->dl_tensor.ndim = 2;
    t->dl_tensor.dtype.code = kDLFloat, t->dl_tensor.dtype.bits = 32, t->dl_tensor.dtype.lanes = 1;
    t->dl_tensor.shape = shape, t->deleter = release;
    EXPECT(ts_matrix_from_dlpack(t, &made[b]) == TS_OK);
    rows[b] = made[b];
  }
  rows[3] = made[0]; /* once more, with another seed */
  ts_kmeans_options_init(&o);
  o.seed = 5, o.progress = count_calls;
  EXPECT(ts_kmeans_batch(ctx, rows, 4, 6, &o, found) == TS_OK);
  EXPECT(calls > 0);
  for (b = 0; b < 4; ++b) {
    o.seed = 5 + (uint64_t)b;
    EXPECT(ts_kmeans(ctx, rows[b], 6, &o, &alone) == TS_OK);
    EXPECT(ts_result_number(found[b], TS_INERTIA, &inertia) == TS_OK);
    EXPECT(ts_result_number(alone, TS_INERTIA, &of_alone) == TS_OK && of_alone == inertia && inertia > 0);
    for (i = 0; i < 6; ++i) EXPECT(value(found[b], TS_CENTERS, i) == value(alone, TS_CENTERS, i));
    ts_result_destroy(alone), ts_result_destroy(found[b]);
  }
  EXPECT(ts_kmeans_batch(ctx, rows, 0, 6, NULL, found) == TS_INVALID_ARGUMENT);
  EXPECT(ts_kmeans_batch(ctx, rows, 4, N + 1, NULL, found) == TS_INVALID_ARGUMENT);
  EXPECT(strstr(ts_last_error(), "of the batch") != NULL);
  rows[1] = NULL;
  EXPECT(ts_kmeans_batch(ctx, rows, 4, 6, NULL, found) == TS_INVALID_ARGUMENT);
  for (b = 0; b < 3; ++b) ts_matrix_destroy(made[b]);
}

static void clusters(void) {
  static float points[2 * N];
  static double centers[4] = {0, 0, 8, 0};
  static int64_t shape[2] = {N, 2};
  DLManagedTensor *t = calloc(1, sizeof *t);
  ts_matrix *rows, *given;
  ts_kmeans_options o;
  ts_result *r;
  double inertia = -1;
  int i;
  for (i = 0; i < N / 2; ++i) points[2 * i] = 8;
  t->dl_tensor.data = points, t->dl_tensor.device.device_type = kDLCPU, t->dl_tensor.ndim = 2;
  t->dl_tensor.dtype.code = kDLFloat, t->dl_tensor.dtype.bits = 32, t->dl_tensor.dtype.lanes = 1;
  t->dl_tensor.shape = shape, t->deleter = release;
  EXPECT(ts_matrix_from_dlpack(t, &rows) == TS_OK);
  EXPECT(ts_matrix_dense(centers, 2, 2, 2, &given) == TS_OK);
  ts_kmeans_options_init(&o);
  o.centers = given;
  EXPECT(ts_kmeans(ctx, rows, 2, &o, &r) == TS_OK);
  EXPECT(ts_result_converged(r) && value(r, TS_CENTERS, 2) == 8);
  ts_result_destroy(r);
  EXPECT(ts_predict(ctx, rows, given, &r) == TS_OK);
  EXPECT(ts_result_number(r, TS_INERTIA, &inertia) == TS_OK && inertia == 0);
  EXPECT(ts_result_array(r, TS_CENTERS, &t) == TS_INVALID_ARGUMENT);
  ts_result_destroy(r);
  for (i = 0; i < 2 * N; ++i) points[i] = i % 2 ? 3 : 4; /* (4, 3) / 5: nearer to (1, 0) than to (0, 1) */
  centers[0] = 0, centers[1] = 1, centers[2] = 1, centers[3] = 0, o.cosine = 1;
  EXPECT(ts_predict_by(ctx, rows, given, &o, &r) == TS_OK);
  EXPECT(ts_result_number(r, TS_INERTIA, &inertia) == TS_OK && inertia > 0.399 * N && inertia < 0.401 * N);
  ts_result_destroy(r);
  EXPECT(ts_kmeans(ctx, rows, N + 1, NULL, &r) == TS_INVALID_ARGUMENT);
  ts_matrix_destroy(rows), ts_matrix_destroy(given);
  EXPECT(released == 1);
  batch_of_clusters();
  EXPECT(released == 4);
}

int main(void) {
  ts_solve_options later;
  ts_matrix *a;
  ts_result *r;
  int i;
  for (i = 0; i < N; ++i) columns[i] = i, diagonal[i] = i + 1, pointers[i + 1] = i + 1;
  EXPECT(ts_context_create(2, &ctx) == TS_OK);
  EXPECT(ts_context_create(-1, &ctx) == TS_INVALID_ARGUMENT);
  EXPECT(strcmp(ts_status_name(TS_BAD_INPUT), "bad_input") == 0);
  spectra();
  products();
  clusters();
  EXPECT(ts_matrix_csr(N, N, pointers, columns, diagonal, &a) == TS_OK);
  ts_solve_options_init(&later);
  later.size = sizeof later + 8;
  EXPECT(ts_eigsh(ctx, a, 1, &later, &r) == TS_INVALID_ARGUMENT && strstr(ts_last_error(), "later") != NULL);
  ts_matrix_destroy(a);
  ts_context_destroy(ctx);
  return 0;
}
