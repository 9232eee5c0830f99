# One target per folder of src/, tests beside what they test.

add_library(thalweg_flags INTERFACE)
target_include_directories(thalweg_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# A designated list names what differs from the defaults; that the rest is left out is its point.
target_compile_options(thalweg_flags INTERFACE -Wall -Wextra -Wpedantic -Werror -Wno-missing-designated-field-initializers
  -fno-omit-frame-pointer -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(thalweg_flags INTERFACE -fuse-ld=lld)
endif()
if(THALWEG_SANITIZE)
  target_compile_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE})
endif()
if(THALWEG_FUZZ)
  target_compile_options(thalweg_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/cmake/compile ${CCACHE})
endif()

# Reading headers takes longer than compiling what most files say, so what nearly all of them read is read once: the standard
# library's and fmt's by base, GoogleTest's beside them by base_test. All other libraries and tests use these.
set(THALWEG_COMMON_HEADERS <algorithm> <array> <chrono> <cstdint> <cstring> <expected> <functional> <map> <memory> <optional>
  <set> <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
set(THALWEG_TEST_HEADERS ${THALWEG_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)

# thalweg_precompile(TARGET <header> ... | FROM target): the target's files read precompiled headers: a set of its own, where
# nearly every file of it reads heavier ones such as a broker's state, or another target's.
function(thalweg_precompile target)
  cmake_parse_arguments(ARG "" "FROM" "" ${ARGN})
  if(ARG_FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARG_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Whether it is still good is ninja's to know; a time in it would only keep ccache from knowing it again.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# thalweg_library(NAME SOURCES a.cc ... DEPENDS target ... [PRECOMPILE <header> ... | PRECOMPILE FROM target]): the library of
# one folder.
function(thalweg_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC thalweg_flags ${ARG_DEPENDS})
  if(NOT ARG_PRECOMPILE)
    set(ARG_PRECOMPILE FROM base)
  endif()
  thalweg_precompile(${name} ${ARG_PRECOMPILE})
endfunction()

# thalweg_test(NAME SOURCES a_test.cc ... DEPENDS target ... [LABELS l ...] [ENVIRONMENT e ...] [OPTIMISED]
#              [PRECOMPILE <header> ... | PRECOMPILE FROM target])
# One GoogleTest program; ctest runs it as one test (a program starts in milliseconds, its cases share that). Its own files
# run for milliseconds and would take the optimiser many times that, so they go without unless they are told OPTIMISED.
function(thalweg_test name)
  if(NOT THALWEG_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "OPTIMISED" "" "SOURCES;DEPENDS;LABELS;ENVIRONMENT;PRECOMPILE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE thalweg_flags ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  if(ARG_OPTIMISED)
    set(ARG_PRECOMPILE FROM base) # what is optimised cannot read headers that were not
  else()
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(NOT ARG_PRECOMPILE)
    set(ARG_PRECOMPILE FROM base_test)
  endif()
  thalweg_precompile(${name} ${ARG_PRECOMPILE})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 300
    ENVIRONMENT "THALWEG_SOURCE_DIR=${CMAKE_SOURCE_DIR};${ARG_ENVIRONMENT}")
endfunction()

# thalweg_benchmark(NAME SOURCES ... DEPENDS ...): a Google Benchmark program, built only with THALWEG_BENCHMARKS.
function(thalweg_benchmark name)
  if(NOT THALWEG_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE thalweg_flags ${ARG_DEPENDS} benchmark::benchmark benchmark::benchmark_main)
endfunction()
