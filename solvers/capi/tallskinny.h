/* tallskinny for C99 and languages that call C: eigenvalues, singular values, k-means, products of tall matrices.
 *
 * Every function that can fail returns a ts_status; ts_last_error() then describes the failure, for this thread.
 * Handles are opaque, created and destroyed by these functions; a null handle may be destroyed. Matrices are passed as
 * DLPack tensors. Structs of options begin with their size and are filled by their _init function, so that later
 * versions may add members at the end. One handle is used by one thread at a time. */
#ifndef TALLSKINNY_C_TALLSKINNY_H
#define TALLSKINNY_C_TALLSKINNY_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers) */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

#include "tallskinny/gemm/adaptors/dlpack.h"

#define TS_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TS_OK = 0,
  TS_INVALID_ARGUMENT = 1,
  TS_BAD_INPUT = 2,
  TS_IO_FAILURE = 3,
  TS_OUT_OF_MEMORY = 4,
  TS_OUT_OF_RANGE = 5,
  TS_NO_DEVICE = 6,
  TS_DEVICE_FAILURE = 7,
  TS_INTERRUPTED = 8,
  TS_UNKNOWN = 9
} ts_status;

typedef struct ts_context ts_context;
typedef struct ts_matrix ts_matrix;
typedef struct ts_result ts_result;

TS_API const char *ts_version(void);
TS_API const char *ts_status_name(ts_status status);
/* Message of the last failure in this thread; empty before the first. Valid until the next failure. */
TS_API const char *ts_last_error(void);

/* Creates a context. threads: 0 means as many as the process may use. */
TS_API ts_status ts_context_create(int threads, ts_context **out);
/* Makes later calls with this context run on a CUDA device. */
TS_API ts_status ts_context_use_device(ts_context *ctx, int device);
TS_API void ts_context_destroy(ts_context *ctx);

/* Makes a dense matrix of a tensor, whose ownership it takes without a copy: ts_matrix_destroy calls its deleter, or
 * this function on failure. One or two dimensions, row-major or column-major, host memory; float32, float64,
 * complex64, complex128. */
TS_API ts_status ts_matrix_from_dlpack(DLManagedTensor *tensor, ts_matrix **out);
/* Makes a dense matrix in the caller's memory, which must outlive it: element (i, j) at data[i * ld + j]. */
TS_API ts_status ts_matrix_dense(double *data, int64_t rows, int64_t cols, int64_t ld, ts_matrix **out);
/* Makes a sparse matrix in the caller's memory, which must outlive it: rows + 1 pointers, then columns and values. */
TS_API ts_status ts_matrix_csr(int64_t rows, int64_t cols, const int64_t *pointers, const int32_t *columns,
                               const double *values, ts_matrix **out);
/* Computes y = A x for `cols` columns, both row-major: element (i, j) at x[i * ldx + j]. Returns 0 for success. */
typedef int (*ts_apply)(void *user, int64_t cols, const double *x, int64_t ldx, double *y, int64_t ldy);
/* Makes a real symmetric matrix with n rows from its product with a block; for ts_eigsh. */
TS_API ts_status ts_matrix_from_function(int64_t n, ts_apply apply, void *user, ts_matrix **out);
TS_API void ts_matrix_destroy(ts_matrix *matrix);

/* Called now and then. A non-zero answer stops the run, which returns its result so far. fraction: -1 if unknown. */
typedef int (*ts_progress)(void *user, double fraction, int64_t done, int64_t wanted);

typedef enum { TS_LA = 0, TS_SA = 1, TS_LM = 2, TS_SM = 3, TS_BE = 4 } ts_which;

typedef struct {
  size_t size;
  double tol;              /* relative to each value */
  int64_t max_iterations;  /* 0: automatic */
  uint64_t seed;
  int32_t which;           /* a ts_which; ts_eigs: LM, LA and SA for the largest and smallest real part, SM nearest to
                              sigma; ts_svds: SM or SA for the smallest */
  int32_t has_sigma;       /* eigenvalues near it */
  double sigma, sigma_imaginary; /* the latter for ts_eigs */
  const ts_matrix *mass;   /* for ts_eigsh, sparse, or null */
  const ts_matrix *initial; /* first block: float64 columns, or null */
  int32_t centre;          /* ts_svds: subtract the mean of each column */
  int32_t verify;          /* check that no eigenvalue or copy is missing */
  ts_progress progress;    /* or null */
  void *user;
} ts_solve_options;
TS_API void ts_solve_options_init(ts_solve_options *options);

/* Finds k eigenvalues of a Hermitian matrix; options may be null. A run that does not converge is no failure: see
 * ts_result_converged. */
TS_API ts_status ts_eigsh(ts_context *ctx, const ts_matrix *a, int64_t k, const ts_solve_options *options,
                          ts_result **out);
/* Finds k eigenvalues of any square matrix; values and vectors are complex128. */
TS_API ts_status ts_eigs(ts_context *ctx, const ts_matrix *a, int64_t k, const ts_solve_options *options,
                         ts_result **out);
/* Finds k singular values and vectors. */
TS_API ts_status ts_svds(ts_context *ctx, const ts_matrix *a, int64_t k, const ts_solve_options *options,
                         ts_result **out);

typedef struct {
  size_t size;
  double tol;
  uint64_t seed;
  int32_t max_iter, n_init;
  int32_t cosine;           /* metric: cosine instead of Euclidean */
  const ts_matrix *centers; /* first centers, k x d float64, or null: k-means++ */
  const double *weights;    /* one for each row, or null */
  ts_progress progress;     /* or null */
  void *user;
} ts_kmeans_options;
TS_API void ts_kmeans_options_init(ts_kmeans_options *options);

/* Finds k clusters of real rows, dense or sparse. */
TS_API ts_status ts_kmeans(ts_context *ctx, const ts_matrix *rows, int64_t k, const ts_kmeans_options *options,
                           ts_result **out);
/* Solves `batch` k-means problems: matrices of one shape and type, which may be one matrix repeated. `out` gets one
 * result for each, those of ts_kmeans with the seeds seed, seed + 1, ... All use the same weights; centers may have
 * k rows for each problem. Each problem has a thread of its own. `progress` is called from several threads, one at a
 * time. */
TS_API ts_status ts_kmeans_batch(ts_context *ctx, const ts_matrix *const *rows, int64_t batch, int64_t k,
                                 const ts_kmeans_options *options, ts_result **out);
/* Labels each row with the nearest of float64 centers, by Euclidean distance: TS_LABELS and TS_INERTIA. */
TS_API ts_status ts_predict(ts_context *ctx, const ts_matrix *rows, const ts_matrix *centers, ts_result **out);
/* Labels rows as ts_predict does, with the metric and weights of the options, which may be null. */
TS_API ts_status ts_predict_by(ts_context *ctx, const ts_matrix *rows, const ts_matrix *centers,
                               const ts_kmeans_options *options, ts_result **out);

TS_API int ts_result_converged(const ts_result *result);
TS_API int ts_result_complete(const ts_result *result); /* no eigenvalue or singular value is missing */
TS_API const char *ts_result_reason(const ts_result *result);

typedef enum {
  TS_VALUES = 0,  /* k; float64, of ts_eigs complex128 */
  TS_VECTORS = 1, /* n x k; of ts_svds the right ones */
  TS_LEFT_VECTORS = 2,
  TS_RESIDUALS = 3,
  TS_BACKWARD_ERRORS = 4,
  TS_LABELS = 5,  /* n, int32 */
  TS_CENTERS = 6, /* k x d */
  TS_MEANS = 7    /* of ts_svds with `centre` */
} ts_array;
/* Returns an array of a result as a row-major tensor in host memory. It shares the result's memory and may outlive
 * it; call its deleter. */
TS_API ts_status ts_result_array(const ts_result *result, ts_array which, DLManagedTensor **out);

typedef enum { TS_INERTIA = 0, TS_ITERATIONS = 1, TS_APPLICATIONS = 2, TS_CONVERGED_COUNT = 3 } ts_number;
TS_API ts_status ts_result_number(const ts_result *result, ts_number which, double *out);
TS_API void ts_result_destroy(ts_result *result);

/* Products of tall blocks, of one element type and in host memory, into outputs of the caller.
 * C = A^H A, p x p. */
TS_API ts_status ts_gram(ts_context *ctx, const ts_matrix *a, ts_matrix *c);
/* C = A^H B, p x q. */
TS_API ts_status ts_tsmttsm(ts_context *ctx, const ts_matrix *a, const ts_matrix *b, ts_matrix *c);
/* Y = X S, n x q with a small S. */
TS_API ts_status ts_tsmm(ts_context *ctx, const ts_matrix *x, const ts_matrix *s, ts_matrix *y);
/* Y = A X with a sparse A. */
TS_API ts_status ts_spmm(ts_context *ctx, const ts_matrix *a, const ts_matrix *x, ts_matrix *y);

#ifdef __cplusplus
}
#endif

#endif /* TALLSKINNY_C_TALLSKINNY_H */
