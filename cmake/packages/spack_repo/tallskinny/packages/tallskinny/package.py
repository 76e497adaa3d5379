"""The recipe for Spack 1.0 and later. From a clone, whose sources it builds:
  spack repo add cmake/packages/spack_repo/tallskinny
  spack env create here && spack -e here add tallskinny@0.2.0
  spack -e here develop --path $PWD tallskinny@0.2.0 && spack -e here install
"""
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Tallskinny(CMakePackage):
    """For matrices that are very tall and very narrow: an engine of tall-and-skinny matrix kernels, a block Krylov
    eigen-solver that checks for missing copies, and k-means with exact labels."""

    license("Apache-2.0")
    version("0.2.0")

    # Kernels are compiled while programs run, for the GPU that is there: no cuda_arch is chosen here.
    variant("cuda", default=False, description="Build the engine for NVIDIA GPUs")
    variant("shared", default=True, description="Make the libraries shared ones")
    variant("programs", default=True, description="Build tssolve, tskmeans, tsdata and tsbench")
    variant("mumps", default=True, description="Let MUMPS factorise sparse matrices")
    variant("matlab", default=True, description="Read MATLAB files of versions 4 and 5")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("eigen@3.4:", type="build")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("zlib-api")
    depends_on("boost@1.74: +program_options", when="+programs")
    depends_on("mumps@5.5: ~mpi +double +complex", when="+mumps")
    depends_on("matio@1.5:", when="+matlab")
    depends_on("cuda@12:", when="+cuda")

    conflicts("%gcc@:11", msg="C++20 is needed: GCC 12 or later")
    conflicts("%clang@:13", msg="C++20 is needed: Clang 14 or later")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("TS_TESTS", False),
            self.define("TS_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("TS_PROGRAMS", "programs"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_programs(self):
        if self.spec.satisfies("+programs"):
            with working_dir(self.build_directory):
                Executable(self.prefix.bin.tsdata)("gen", "lap3d", "--n", "20", "-o", "laplace.h5")
                Executable(self.prefix.bin.tssolve)("laplace.h5", "-k", "6", "--which", "SA")
