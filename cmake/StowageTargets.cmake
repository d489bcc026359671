# Libraries whose sources are found by pattern, so that a new file needs no edit here.

# stowage_sources(OUT PATTERN...): the sources in the current folder that match, sorted.
function(stowage_sources out)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  list(SORT found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# stowage_library(NAME [SOURCES file...] [PUBLIC target...] [PRIVATE target...]): a static library.
function(stowage_library name)
  cmake_parse_arguments(PARSE_ARGV 1 library "" "" "SOURCES;PUBLIC;PRIVATE")
  if(NOT library_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${library_PUBLIC})
    return()
  endif()
  add_library(${name} STATIC ${library_SOURCES})
  target_link_libraries(${name} PUBLIC ${library_PUBLIC} PRIVATE ${library_PRIVATE})
endfunction()

# stowage_unite(TARGET [BATCH]): compiles BATCH sources as one, twenty if not given, so that what they include is parsed
# once. Names in their unnamed namespaces must differ.
function(stowage_unite target)
  set(batch 20)
  if(ARGC GREATER 1)
    set(batch ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${STOWAGE_UNITE}" UNITY_BUILD_BATCH_SIZE ${batch})
  if(STOWAGE_UNITE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # meant for headers, and a source is included here
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1000000)  # KiB; to collect garbage takes a tenth
  endif()
endfunction()

# stowage_precompile(TARGET PRIVATE HEADER... | REUSE_FROM OTHER): parses what most sources of a target include once, not in
# each of them.
function(stowage_precompile target)
  target_precompile_headers(${target} ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # without it ccache passes every source on
  endif()
endfunction()

# stowage_embed(SOURCE HEADER NAME=FILE[,FILE...]...): has a build write SOURCE into the current build folder, in which each
# NAME, declared in HEADER as a std::string_view, is the text of its files, one after the other.
function(stowage_embed source header)
  string(REGEX REPLACE "[^=;]+=" "" files "${ARGN}")
  string(REPLACE "," ";" files "${files}")
  set(script "${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake")
  add_custom_command(
    OUTPUT ${source}
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${source}" "-DHEADER=${header}" "-DTEXTS=${ARGN}" -P "${script}"
    DEPENDS ${files} "${script}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    VERBATIM)
endfunction()
