# Includes point app -> io, solvers, gemm; io -> gemm/core; solvers -> gemm; and never back. An operation never
# includes another operation. Run as: cmake -DROOT=... -P layers.cmake

file(GLOB operations RELATIVE ${ROOT}/gemm ${ROOT}/gemm/*)
list(FILTER operations EXCLUDE REGEX "\\.|^(core|backend|plan)$")
list(JOIN operations "|" any_operation)
set(failures "")

function(forbid room pattern why)
  file(GLOB_RECURSE files ${ROOT}/${room}/*.hpp ${ROOT}/${room}/*.cpp ${ROOT}/${room}/*.inl ${ROOT}/${room}/*.cuh)
  list(REMOVE_ITEM files ${ROOT}/gemm/backend/comm/mpi_communicator.cpp)  # the one file that knows MPI
  foreach(file ${files})
    file(STRINGS ${file} hits REGEX "^[ \t]*#[ \t]*include.*(${pattern})")
    foreach(hit ${hits})
      file(RELATIVE_PATH name ${ROOT} ${file})
      set(failures "${failures}\n${name}: ${hit}  (${why})" PARENT_SCOPE)
    endforeach()
  endforeach()
endfunction()

forbid(gemm "tallskinny/(app|io|solvers|tests)/" "the engine knows no other room")
forbid(gemm "hdf5|H5|boost/|mpi\\.h" "the engine knows no files, options or ranks")
forbid(io "tallskinny/(app|solvers|tests)/" "io knows no solver")
forbid(io "tallskinny/gemm/(backend|plan|${any_operation})/" "io knows gemm/core only")
forbid(io "cuda|mpi\\.h|boost/" "io knows no devices, ranks or options")
forbid(solvers "tallskinny/(app|io|tests)/" "solvers know no files and no programs")
forbid(solvers "hdf5|H5|cuda|mpi\\.h|nccl|boost/" "solvers know no files, devices, ranks or options")
foreach(operation ${operations})
  foreach(other ${operations})
    if(NOT operation STREQUAL other)
      forbid(gemm/${operation} "tallskinny/gemm/${other}/" "an operation never includes another")
    endif()
  endforeach()
endforeach()

if(failures)
  message(FATAL_ERROR "Includes against the arrows:${failures}")
endif()
