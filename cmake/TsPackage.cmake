# `cpack` makes a package for Debian of what is installed: programs, libraries, headers. cmake/packages/deb.sh does it
# from a build of its own. What is loaded when it is there (CUDA's libraries, MPI, BLAS, sparse solvers) is recommended
# or suggested, never needed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tallskinny)
if(NOT TS_HAVE_CUDA)
  set(CPACK_PACKAGE_NAME tallskinny-cpu)
endif()
set(CPACK_PACKAGE_VENDOR "The tallskinny developers")
set(CPACK_PACKAGE_CONTACT "The tallskinny developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "For matrices that are very tall and very narrow: tssolve finds eigenvalues and singular
values and checks that none is missing, tskmeans finds clusters with exact labels, tsdata makes and
converts files, tsbench measures. With the C++ library beneath them, on processors and NVIDIA GPUs.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what programs and libraries are linked with
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0 | liblapack3, libmumps-seq-5.5, libcholmod3, libmetis5, libmatio11")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin | mpich, libcuda1, libhdf5-dev, zlib1g-dev")
if(CPACK_PACKAGE_NAME STREQUAL "tallskinny")
  set(other tallskinny-cpu)
else()
  set(other tallskinny)
endif()
set(CPACK_DEBIAN_PACKAGE_CONFLICTS ${other})
set(CPACK_DEBIAN_PACKAGE_REPLACES ${other})
include(CPack)
