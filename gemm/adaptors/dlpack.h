/* The structs of DLPack 0.8 (https://github.com/dmlc/dlpack, include/dlpack/dlpack.h), for C99 and C++: what arrays of
 * NumPy, CuPy, JAX and PyTorch are handed over as. Where upstream's header is used, include it first; it then serves. */
#ifndef TALLSKINNY_DLPACK_H
#define TALLSKINNY_DLPACK_H
#ifndef DLPACK_DLPACK_H_

#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5 } DLDataTypeCode;

typedef struct {
  uint8_t code;   /* a DLDataTypeCode */
  uint8_t bits;   /* of one number; of a complex one both parts */
  uint16_t lanes; /* 1 */
} DLDataType;

typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; null: row-major without gaps */
  uint64_t byte_offset;
} DLTensor;

/* Its consumer calls deleter(self) once, when it is done with it. */
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#ifdef __cplusplus
}
#endif

#endif /* DLPACK_DLPACK_H_ */
#endif /* TALLSKINNY_DLPACK_H */
