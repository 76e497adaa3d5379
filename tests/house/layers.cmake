# Includes point downwards. Between rooms: app -> io, solvers, gemm; io -> gemm/core and threads; solvers -> gemm.
# Inside gemm/, io/ and solvers/: only to rooms that `floors` lists further down.
# Run as: cmake -DROOT=... -P layers.cmake

cmake_minimum_required(VERSION 3.25)
set(failures "")

function(sources_of room result)
  file(GLOB_RECURSE files ${ROOT}/${room}/*.hpp ${ROOT}/${room}/*.cpp ${ROOT}/${room}/*.ipp ${ROOT}/${room}/*.cuh)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

macro(fail file_ hit_ why_)
  file(RELATIVE_PATH shown ${ROOT} ${file_})
  string(APPEND failures "\n${shown}: ${hit_}  (${why_})")
endmacro()

function(forbid room pattern why)
  sources_of(${room} files)
  foreach(file ${files})
    file(STRINGS ${file} hits REGEX "^[ \t]*#[ \t]*include.*(${pattern})")
    foreach(hit ${hits})
      fail(${file} ${hit} ${why})
    endforeach()
  endforeach()
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

# floors(BASE ROOMS...): lines of rooms below BASE, from the ground up. A room includes itself, BASE's own headers, and
# rooms of earlier lines; rooms of one line do not know each other. `a>b` in a line lets a include b, too.
function(floors base)
  set(below "")
  set(known "")
  foreach(line ${ARGN})
    string(REPLACE " " ";" rooms "${line}")
    foreach(room ${rooms})
      string(REGEX REPLACE ">.*" "" name ${room})
      set(allowed ${below} ${name})
      if(room MATCHES ">(.*)")
        string(REPLACE "," ";" more ${CMAKE_MATCH_1})
        list(APPEND allowed ${more})
      endif()
      list(APPEND known ${name})
      set(allowed_${name} ${allowed})
    endforeach()
    foreach(room ${rooms})
      string(REGEX REPLACE ">.*" "" name ${room})
      list(APPEND below ${name})
    endforeach()
  endforeach()
  file(GLOB folders RELATIVE ${ROOT}/${base} ${ROOT}/${base}/*)
  foreach(folder ${folders})
    if(IS_DIRECTORY ${ROOT}/${base}/${folder} AND NOT folder IN_LIST known)
      fail(${ROOT}/${base}/${folder} "is a room" "tests/house/layers.cmake does not say on which floor")
    endif()
  endforeach()
  foreach(name ${known})
    sources_of(${base}/${name} files)
    foreach(file ${files})
      file(STRINGS ${file} hits REGEX "^[ \t]*#[ \t]*include \"tallskinny/${base}/[a-z_0-9]+/")
      foreach(hit ${hits})
        string(REGEX REPLACE ".*tallskinny/${base}/([a-z_0-9]+)/.*" "\\1" other "${hit}")
        if(NOT other IN_LIST allowed_${name})
          fail(${file} "${hit}" "${base}/${name} does not build on ${base}/${other}")
        endif()
      endforeach()
    endforeach()
  endforeach()
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

# ground(BASE): BASE's own files lie below all of its rooms.
function(ground base)
  file(GLOB files ${ROOT}/${base}/*.hpp ${ROOT}/${base}/*.cpp)
  foreach(file ${files})
    file(STRINGS ${file} hits REGEX "^[ \t]*#[ \t]*include \"tallskinny/${base}/[a-z_0-9]+/")
    foreach(hit ${hits})
      fail(${file} ${hit} "what lies in ${base} itself is its ground floor")
    endforeach()
  endforeach()
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

# roof(BASE): BASE's own files lie above all of its rooms.
function(roof base)
  forbid(${base}/* "tallskinny/${base}/[a-z_0-9]+\\." "what lies in ${base} itself is above its rooms")
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

forbid(gemm "tallskinny/(app|io|solvers|tests)/" "the engine knows no other room")
forbid(gemm "hdf5|H5|boost/|mpi\\.h" "the engine knows no files, options or ranks")
forbid(io "tallskinny/(app|solvers|tests)/" "io knows no solver")
forbid(io "tallskinny/gemm/([abd-qs-z]|co[mp]|cpu)[a-z_0-9]*/" "io knows gemm/core and threads only")
forbid(io "tallskinny/gemm/r(andom|untime/([a-su-z]|t[a-gi-z]))" "io knows gemm/core and threads only")
forbid(io "cuda|mpi\\.h|boost/" "io knows no devices, ranks or options")
forbid(solvers "tallskinny/(app|io|tests)/" "solvers know no files and no programs")
forbid(solvers "hdf5|H5|cuda|mpi\\.h|nccl|boost/" "solvers know no files, devices, ranks or options")

floors(gemm
  "core"
  "runtime"
  "adaptors comm"
  "plan"
  "cpu device"
  "library"
  "copy tsmttsm tsmm project spmm trsm norms random"
  "tsm2r")
floors(gemm/runtime
  "threads"
  "gpu")
roof(gemm/runtime)
ground(io)
floors(io
  "matrix hdf5"
  "conventions text binary"
  "write"
  "file")
ground(solvers)
ground(solvers/ortho)
floors(solvers/eigen
  "values"
  "small krylov"
  "dense"
  "transform"
  "result"
  "hermitian"
  "general interval"
  "semidefinite")
floors(solvers/kmeans/pass
  "rows"
  "cpu"
  "sums"
  "resolver"
  "scorer"
  "filter"
  "clusters")
floors(solvers/kmeans
  "pass"
  "seeding"
  "variants")
floors(solvers
  "ortho ranks"
  "direct"
  "eigen"
  "svd kmeans"
  "setup"
  "driver"
  "capi")

if(failures)
  string(REGEX MATCHALL "\n" lines "${failures}")
  list(LENGTH lines count)
  message(FATAL_ERROR "${count} includes against the arrows:${failures}")
endif()
