# Everything comes from the system; nothing is downloaded at configure time.

find_package(Threads REQUIRED)
find_package(Eigen3 REQUIRED CONFIG)  # no version: Eigen 5 refuses a request for 3.4
find_package(nlohmann_json 3.10 REQUIRED CONFIG)

# HDF5's C library and zlib, as the target list TS_HDF5_LIBRARIES.
if(TS_STATIC AND BUILD_SHARED_LIBS)
  message(FATAL_ERROR "TS_STATIC and BUILD_SHARED_LIBS exclude each other: choose one")
endif()
if(TS_STATIC)
  # FindHDF5 of CMake 3.25 forgets what a static HDF5 needs, so the archives are named here; szip's are optional.
  find_package(HDF5 1.10 REQUIRED COMPONENTS C)
  find_library(TS_HDF5_ARCHIVE NAMES libhdf5_serial.a libhdf5.a HINTS ${HDF5_C_LIBRARY_DIRS} REQUIRED)
  find_library(TS_Z_ARCHIVE libz.a REQUIRED)
  find_library(TS_SZ_ARCHIVE libsz.a)
  find_library(TS_AEC_ARCHIVE libaec.a)
  add_library(tallskinny_hdf5 INTERFACE)  # installed with tallskinny_io, which is nothing without these archives
  target_include_directories(tallskinny_hdf5 SYSTEM INTERFACE "$<BUILD_INTERFACE:${HDF5_C_INCLUDE_DIRS}>")
  target_link_libraries(tallskinny_hdf5 INTERFACE ${TS_HDF5_ARCHIVE})
  if(TS_SZ_ARCHIVE AND TS_AEC_ARCHIVE)
    target_link_libraries(tallskinny_hdf5 INTERFACE ${TS_SZ_ARCHIVE} ${TS_AEC_ARCHIVE})
  endif()
  target_link_libraries(tallskinny_hdf5 INTERFACE ${TS_Z_ARCHIVE} ${CMAKE_DL_LIBS} m Threads::Threads)
  set(TS_HDF5_LIBRARIES tallskinny_hdf5)
else()
  find_package(HDF5 1.10 REQUIRED COMPONENTS C)  # the serial flavour, even beside the MPI one
  find_package(ZLIB REQUIRED)
  set(TS_HDF5_LIBRARIES hdf5::hdf5 ZLIB::ZLIB)
endif()

# The sequential MUMPS: its headers, and the names under which its libraries are loaded when a program needs them.
find_path(TS_MUMPS_INCLUDE_DIR dmumps_c.h)
find_library(TS_DMUMPS_LIBRARY dmumps_seq)
find_library(TS_ZMUMPS_LIBRARY zmumps_seq)
set(TS_HAVE_MUMPS FALSE)
if(TS_MUMPS_INCLUDE_DIR AND TS_DMUMPS_LIBRARY AND TS_ZMUMPS_LIBRARY)
  set(TS_HAVE_MUMPS TRUE)
  foreach(number D Z)
    file(REAL_PATH ${TS_${number}MUMPS_LIBRARY} library)
    get_filename_component(TS_${number}MUMPS_NAME ${library} NAME)
  endforeach()
  message(STATUS "Sparse direct solver: MUMPS (${TS_DMUMPS_NAME})")
else()
  message(STATUS "Sparse direct solver: Eigen, for the sequential MUMPS (libmumps-seq-dev) was not found")
endif()

if(TS_MPI)
  find_package(MPI 3 REQUIRED COMPONENTS CXX)
endif()

if(NOT TS_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TS_CUDA is '${TS_CUDA}': choose AUTO, ON or OFF")
endif()
set(TS_HAVE_CUDA FALSE)
if(TS_CUDA STREQUAL "OFF")
  message(STATUS "CUDA backend: left out (TS_CUDA=OFF)")
else()
  # Headers suffice: libraries are loaded and kernels compiled at run time, nvcc is never called.
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
