# Runs the code generator over schemas/ and names what it writes.
#   THALWEG_MESSAGE_SOURCES  codec of every message
#   THALWEG_JSON_SOURCES     JSON of every message, for tests
#   target thalweg_messages  makes them all
set(THALWEG_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(GLOB_RECURSE THALWEG_SCHEMAS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schemas/*.json)
set(THALWEG_MESSAGE_SOURCES "")
set(THALWEG_MESSAGE_HEADERS "")
set(THALWEG_JSON_SOURCES ${THALWEG_GENERATED}/vectors/registry.cc)
foreach(schema ${THALWEG_SCHEMAS})
  file(STRINGS ${schema} removed REGEX "\"validVersions\": \"none\"")
  if(removed)
    continue() # a removed API: nothing is encoded for it
  endif()
  get_filename_component(name ${schema} NAME_WE)
  string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" name ${name})
  string(REGEX REPLACE "([A-Z])([A-Z][a-z])" "\\1_\\2" name ${name})
  string(TOLOWER ${name} name)
  list(APPEND THALWEG_MESSAGE_SOURCES ${THALWEG_GENERATED}/protocol/messages/${name}.cc)
  list(APPEND THALWEG_MESSAGE_HEADERS ${THALWEG_GENERATED}/protocol/messages/${name}.h)
  list(APPEND THALWEG_JSON_SOURCES ${THALWEG_GENERATED}/vectors/${name}_json.cc)
endforeach()
add_custom_command(
  OUTPUT ${THALWEG_GENERATED}/protocol/api_key.h ${THALWEG_MESSAGE_HEADERS} ${THALWEG_MESSAGE_SOURCES} ${THALWEG_JSON_SOURCES}
  COMMAND thalweg_codegen ${THALWEG_GENERATED} ${THALWEG_SCHEMAS}
  DEPENDS thalweg_codegen ${THALWEG_SCHEMAS}
  COMMENT "Generating message code"
  VERBATIM)
add_custom_target(thalweg_messages DEPENDS ${THALWEG_GENERATED}/protocol/api_key.h)
