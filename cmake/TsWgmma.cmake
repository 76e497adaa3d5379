# ts_write_wgmma(FILE): the tensor instructions of a warpgroup, for gemm/device/wgmma.cuh. The assembler wants every
# register named, so that each number of columns has a text of its own; inline assembly takes no other than a literal.
function(ts_write_wgmma file)
  set(text "// Made by cmake/TsWgmma.cmake: c = left right (+ c where add is not 0) for 64 x 8 Blocks sums.\n\
#pragma once\n\n#include \"tallskinny/gemm/device/element.cuh\"\n\ntemplate <int Blocks>\nstruct Wgmma;\n")
  foreach(blocks RANGE 1 16)
    math(EXPR columns "8 * ${blocks}")
    math(EXPR first "4 * ${blocks} - 4")
    math(EXPR last "4 * ${blocks} - 1")
    foreach(i RANGE ${first} ${last})
      string(APPEND registers "${comma}%${i}")
      string(APPEND sums "${comma}\"+f\"(c[${i}])")
      set(comma ", ")
    endforeach()
    foreach(i RANGE 6)  # the operands behind the sums
      math(EXPR x${i} "4 * ${blocks} + ${i}")
    endforeach()
    set(head "static __device__ __forceinline__ void")
    set(adds "asm volatile(\"{ .reg .pred p; setp.ne.b32 p,")  # the number of the operand `add` follows
    set(wgmma "0; wgmma.mma_async.sync.aligned.m64n${columns}")
    set(left "{%${x0}, %${x1}, %${x2}, %${x3}}")
    set(four "\"r\"(left[0]), \"r\"(left[1]), \"r\"(left[2]), \"r\"(left[3]), \"l\"(right), \"r\"(add)")
    string(APPEND text "\ntemplate <>\nstruct Wgmma<${blocks}> {
  template <int Sign = 1>
  ${head} multiply(float (&c)[4 * ${blocks}], const uint32 (&left)[4], uint64 right, int add) {
    ${adds} %${x5}, ${wgmma}k8.f32.tf32.tf32 {${registers}}, ${left}, %${x4}, p, 1, %${x6}; }\"
        : ${sums} : ${four}, \"n\"(Sign));
  }
  ${head} multiply_f16(float (&c)[4 * ${blocks}], const uint32 (&left)[4], uint64 right, int add) {
    ${adds} %${x5}, ${wgmma}k16.f32.f16.f16 {${registers}}, ${left}, %${x4}, p, 1, 1, 0; }\"
        : ${sums} : ${four});
  }\n")
    foreach(type f16 bf16)
      string(APPEND text "  template <int ByLines>
  ${head} multiply_${type}(float (&c)[4 * ${blocks}], uint64 left, uint64 right, int add) {
    ${adds} %${x2}, ${wgmma}k16.f32.${type}.${type} {${registers}}, %${x0}, %${x1}, p, 1, 1, %${x3}, %${x3}; }\"
        : ${sums} : \"l\"(left), \"l\"(right), \"r\"(add), \"n\"(ByLines));
  }\n")
    endforeach()
    math(EXPR odd "${blocks} % 2")
    if(blocks LESS_EQUAL 4 OR NOT odd)
      string(REPLACE "+f" "+r" whole_sums "${sums}")
      string(APPEND text "  ${head} multiply_s8(int (&c)[4 * ${blocks}], uint64 left, uint64 right, int add) {
    ${adds} %${x2}, ${wgmma}k32.s32.s8.s8 {${registers}}, %${x0}, %${x1}, p; }\"
        : ${whole_sums} : \"l\"(left), \"l\"(right), \"r\"(add));
  }\n")
    endif()
    string(APPEND text "};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()
