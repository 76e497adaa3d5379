# Everything comes from the system; nothing is downloaded at configure time.

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Eigen3 REQUIRED CONFIG)  # no version: Eigen 5 refuses a request for 3.4

if(NOT TS_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TS_CUDA is '${TS_CUDA}': choose AUTO, ON or OFF")
endif()
set(TS_HAVE_CUDA FALSE)
if(TS_CUDA STREQUAL "OFF")
  message(STATUS "CUDA backend: left out (TS_CUDA=OFF)")
else()
  # Headers and libraries suffice: kernels are compiled at run time, nvcc is never called.
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(TS_HAVE_CUDA TRUE)
    message(STATUS "CUDA backend: built with the toolkit ${CUDAToolkit_VERSION} in ${CUDAToolkit_LIBRARY_DIR}")
  elseif(TS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TS_CUDA=ON, but no CUDA toolkit was found: set CUDAToolkit_ROOT, or TS_CUDA=OFF")
  else()
    message(STATUS "CUDA backend: left out, no CUDA toolkit found (set CUDAToolkit_ROOT to name one)")
  endif()
endif()
