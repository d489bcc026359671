# How every target is compiled and linked.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # CMake >= 3.28 would scan every C++20 source for modules
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# -g1 keeps backtraces; full debug information makes objects that include torch ten times as large.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
add_compile_options(-Wall -Wextra)
include_directories("${CMAKE_SOURCE_DIR}")  # includes are written from the root: "traces/profile.h"

if(STOWAGE_SANITIZE)
  add_compile_options(-O1 -fsanitize=${STOWAGE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STOWAGE_SANITIZE})
endif()

if(STOWAGE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # counts what inputs reach; only the fuzz programs link libFuzzer
endif()

find_program(STOWAGE_LLD ld.lld)
if(STOWAGE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--as-needed)

# ccache shares objects between clones: paths below the source folder are hashed relative to it.
find_program(STOWAGE_CCACHE ccache)
if(STOWAGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${STOWAGE_CCACHE})
endif()
