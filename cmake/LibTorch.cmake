# Finds LibTorch and defines LibTorch::LibTorch, LIBTORCH_VERSION and LIBTORCH_HAS_CUDA.
#
# LibTorch's own package file is not used: for a CUDA build it needs nvcc while configuring, and stops on architectures
# that a newer toolkit has dropped. Nothing here needs nvcc, a GPU, or Python to import torch.
#
# The folder is LIBTORCH_ROOT (it holds include/ and lib/); else the one that scripts/libtorch knows.

set(LIBTORCH_ROOT "$ENV{LIBTORCH_ROOT}" CACHE PATH "LibTorch's folder, such as .../site-packages/torch")
set(libtorch_root "${LIBTORCH_ROOT}")
if(NOT libtorch_root)
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/scripts/libtorch" find OUTPUT_VARIABLE libtorch_root
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT libtorch_root)
  message(FATAL_ERROR "LibTorch was not found. Run scripts/setup, or set LIBTORCH_ROOT, or use the preset core.")
endif()

# --- Version -----------------------------------------------------------------------------------------------------------
set(LIBTORCH_VERSION "")
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(NOT LIBTORCH_VERSION AND EXISTS "${libtorch_root}/include/${header}")
    file(STRINGS "${libtorch_root}/include/${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]*([0-9]+)" "\\1" lines "${lines}")
    string(REPLACE ";" "." LIBTORCH_VERSION "${lines}")
  endif()
endforeach()
if(NOT LIBTORCH_VERSION)
  message(FATAL_ERROR "${libtorch_root} holds no LibTorch: include/ has no torch/version.h")
endif()
if(LIBTORCH_VERSION VERSION_LESS 2.6)
  message(FATAL_ERROR "${libtorch_root} holds LibTorch ${LIBTORCH_VERSION}; Stowage needs 2.6 or later, best 2.11")
endif()
if(EXISTS "${libtorch_root}/share/cmake/Torch/TorchConfig.cmake")
  file(STRINGS "${libtorch_root}/share/cmake/Torch/TorchConfig.cmake" old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_abi)
    message(FATAL_ERROR "${libtorch_root} was built with the old C++ ABI; Stowage needs a build with the C++11 one")
  endif()
endif()

# --- The library for every machine ---------------------------------------------------------------------------------------
add_library(LibTorch::LibTorch INTERFACE IMPORTED)
target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE "${libtorch_root}/include"
                                                               "${libtorch_root}/include/torch/csrc/api/include")
foreach(name torch_cpu c10)
  find_library(libtorch_${name} ${name} PATHS "${libtorch_root}/lib" NO_DEFAULT_PATH NO_CACHE REQUIRED)
  target_link_libraries(LibTorch::LibTorch INTERFACE "${libtorch_${name}}")
endforeach()

# --- CUDA ----------------------------------------------------------------------------------------------------------------
# c10_cuda (streams, events, the caching allocator) loads without a GPU and needs only the CUDA runtime, so the CUDA
# sources are compiled and linked wherever that runtime and its headers are. torch_cuda, which registers the kernels when
# it is loaded, needs gigabytes of other libraries: it is linked where they are there.
set(LIBTORCH_HAS_CUDA OFF)
set(LIBTORCH_HAS_CUDA_KERNELS OFF)

# What the loader says of one of LibTorch's libraries: a line for each that it needs, with its path or "not found".
function(libtorch_needs out name)
  set(text "not found")
  if(EXISTS "${libtorch_root}/lib/lib${name}.so")
    execute_process(COMMAND ldd "${libtorch_root}/lib/lib${name}.so" OUTPUT_VARIABLE text ERROR_QUIET)
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

libtorch_needs(c10_cuda_needs c10_cuda)
libtorch_needs(torch_cuda_needs torch_cuda)
string(REGEX MATCH "libcudart[^\n]* => (/[^\n]*libcudart[^\n]*\\.so\\.([0-9]+)[^ \n]*)" cudart "${c10_cuda_needs}")
set(cudart "${CMAKE_MATCH_1}")
set(cuda_major "${CMAKE_MATCH_2}")

# crt/ is not in every package that holds cuda_runtime_api.h, which needs it.
file(GLOB cuda_folders "${libtorch_root}/../nvidia/cu[0-9]*" "${libtorch_root}/../nvidia/cuda_runtime")
find_path(cuda_include crt/host_defines.h HINTS ${cuda_folders} ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include
          NO_CACHE)
set(header_major "")
if(cuda_include)
  file(STRINGS "${cuda_include}/cuda_runtime_api.h" header_major REGEX "define CUDART_VERSION +[0-9]+")
  string(REGEX REPLACE ".* ([0-9]+)[0-9][0-9][0-9]$" "\\1" header_major "${header_major}")
endif()

if(cudart AND cuda_major STREQUAL header_major)
  set(LIBTORCH_HAS_CUDA ON)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE "${cuda_include}")
  target_compile_definitions(LibTorch::LibTorch INTERFACE STOWAGE_WITH_CUDA)
  target_link_libraries(LibTorch::LibTorch INTERFACE "${libtorch_root}/lib/libc10_cuda.so" "${cudart}")
  if(NOT torch_cuda_needs MATCHES "not found")
    set(LIBTORCH_HAS_CUDA_KERNELS ON)
    target_link_libraries(LibTorch::LibTorch INTERFACE "-Wl,--push-state,--no-as-needed"
                                                       "${libtorch_root}/lib/libtorch_cuda.so" "-Wl,--pop-state")
  endif()
elseif(cudart)
  message(STATUS "LibTorch's CUDA is left out: it is ${cuda_major}, and the headers found are '${header_major}'")
endif()

message(STATUS "LibTorch ${LIBTORCH_VERSION} in ${libtorch_root}, CUDA device: ${LIBTORCH_HAS_CUDA}, "
               "CUDA kernels: ${LIBTORCH_HAS_CUDA_KERNELS}")
