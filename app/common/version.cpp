#include "tallskinny/app/common/options.hpp"
#include "tallskinny/gemm/runtime/gpu/devices.hpp"

namespace ts::app {

std::string version_text(std::string_view program) {
  return std::string(program.substr(0, program.find(' '))) + " (tallskinny) " TS_VERSION " (" +
         (cuda::built() ? "with" : "without") + " the CUDA runtime, " TS_BUILD_TYPE ", " TS_COMPILER ")";
}

std::string release() { return TS_VERSION; }

}  // namespace ts::app
