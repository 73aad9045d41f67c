// From a schema as people write it to the plain form that valijson reads without fault.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json_value.hpp"
#include "schema_pattern.hpp"

namespace sluice {

/// Resolves every `$ref` beforehand, because valijson knows neither `$id` nor a chain of references.
///
/// The plain form is `{"$ref": "#/s/N", "s": {"0": …, "1": …}}`: each referenced subschema appears once under `s`,
/// references name it by number, and keywords that restrict nothing are left out.
class SchemaDocument {
 public:
  /// `documents` maps absolute URIs to further schemas, or is null.
  SchemaDocument(const json_t *schema, const json_t *documents);

  /// The plain form; the schema's regular expressions are compiled into `patterns` on the way.
  OwnedJSON plain_form(SchemaPatterns &patterns);

 private:
  const json_t *add_document(const std::string &uri, const json_t *schema);
  void walk(const json_t *schema, std::string base, int depth);
  void walk_children(const json_t *schema, const std::string &base, int depth);
  void note_identifier(const json_t *schema, std::string &base);

  std::size_t number_of_target(const json_t *schema);
  const json_t *target(const json_t *reference);
  const json_t *resource(const std::string &uri);
  const json_t *descend(const json_t *from, const std::string &pointer, std::string_view reference);
  void resolve_references();

  OwnedJSON reference_to(std::size_t number) const;
  OwnedJSON emit(const json_t *schema, bool is_target);
  OwnedJSON emit_keyword(std::string_view keyword, const json_t *value);
  OwnedJSON emit_list(const json_t *list);
  OwnedJSON emit_map(const json_t *map);

  std::vector<OwnedJSON> copies_;
  std::unordered_map<const json_t *, std::string> bases_;
  std::unordered_map<std::string, const json_t *> resources_;
  std::vector<const json_t *> references_;
  std::unordered_map<const json_t *, std::size_t> numbers_;
  std::vector<const json_t *> targets_;
  SchemaPatterns *patterns_ = nullptr;
};

}  // namespace sluice
