#include "tallskinny/gemm/core/error.hpp"
#include "tallskinny/gemm/runtime/gpu/sources.hpp"

namespace ts::cuda {

const Source& source_of(std::string_view family, SourceFiles beside) {
  for (const SourceFiles files : {SourceFiles{sources}, beside})
    if (files != nullptr)
      for (const Source& s : files())
        if (s.name.ends_with("/" + std::string(family) + ".cuh")) return s;
  throw Error(Errc::invalid_argument,
              "the library has no kernel source called " + std::string(family) + ".cuh");
}

}  // namespace ts::cuda
