# Writes the schemas as C++, for a program that carries them in itself.
#   cmake -DSCHEMAS=DIR -DOUT=FILE -P embed_schemas.cmake
file(GLOB_RECURSE files RELATIVE ${SCHEMAS} ${SCHEMAS}/*.json)
list(SORT files)
set(text "#include \"inspect/catalog.h\"\n\nnamespace thalweg::inspect {\n\nnamespace {\n\nusing namespace std::string_view_literals;\n\nconstexpr SchemaFile kFiles[] = {\n")
foreach(file ${files})
  file(READ ${SCHEMAS}/${file} schema)
  string(APPEND text "    {\"${file}\", R\"schema(${schema})schema\"sv},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const SchemaFile> schema_files() { return kFiles; }\n\n}  // namespace thalweg::inspect\n")
file(WRITE ${OUT} "${text}")
