// What a comparison needs to know of a compiled kernel.
#pragma once

#include <string>

namespace ts::baseline {

struct MachineCode {
  std::size_t instructions = 0;  ///< of 16 bytes each
  std::string digest;            ///< of the code alone, whatever functions and files are called
};

/// Of all .text sections of an ELF file of 64 bits. @throws Error(bad_input) for anything else.
[[nodiscard]] MachineCode machine_code(const std::string& cubin);

}  // namespace ts::baseline
