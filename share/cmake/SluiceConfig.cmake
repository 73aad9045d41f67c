# Sluice for authors of plugins. After find_package(Sluice):
#
#   Sluice::Plugin                     a target to link: the headers, and jansson
#   sluice_add_plugin(NAME SOURCE...)  a plugin lib<NAME>.so, which exports only its entry point
#   Sluice_PLUGIN_DIR                  the folder in which the installed command looks plugins up by name
#   Sluice_SDK_DIR                     the package for plugins in Swift
cmake_policy(PUSH)
cmake_policy(VERSION 3.13)

get_filename_component(Sluice_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Sluice_INCLUDE_DIR "${Sluice_PREFIX}/include")
set(Sluice_PLUGIN_DIR "${Sluice_PREFIX}/lib/sluice/plugins")
set(Sluice_SDK_DIR "${Sluice_PREFIX}/share/sluice/sdk")

find_path(Sluice_JANSSON_INCLUDE_DIR jansson.h)
find_library(Sluice_JANSSON_LIBRARY jansson)
mark_as_advanced(Sluice_JANSSON_INCLUDE_DIR Sluice_JANSSON_LIBRARY)
if(NOT EXISTS "${Sluice_INCLUDE_DIR}/sluice/sluice.h")
  set(Sluice_NOT_FOUND_MESSAGE "there is no ${Sluice_INCLUDE_DIR}/sluice/sluice.h; install Sluice again")
elseif(NOT Sluice_JANSSON_INCLUDE_DIR OR NOT Sluice_JANSSON_LIBRARY)
  set(Sluice_NOT_FOUND_MESSAGE "jansson was not found, whose documents plugins use; install it (Debian: libjansson-dev)")
endif()
if(Sluice_NOT_FOUND_MESSAGE)
  set(Sluice_FOUND FALSE)
  cmake_policy(POP)
  return()
endif()

if(NOT TARGET Sluice::Plugin)
  add_library(Sluice::Plugin INTERFACE IMPORTED)
  set_target_properties(Sluice::Plugin PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Sluice_INCLUDE_DIR};${Sluice_JANSSON_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${Sluice_JANSSON_LIBRARY}")
endif()

function(sluice_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES
    PREFIX lib SUFFIX .so C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE Sluice::Plugin)
  target_link_options(${name} PRIVATE -Wl,-z,defs "-Wl,--version-script=${Sluice_SDK_DIR}/exports.map")
endfunction()

cmake_policy(POP)
