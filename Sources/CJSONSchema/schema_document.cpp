#include "schema_document.hpp"

#include <algorithm>
#include <cmath>

#include "CJSONSchema.h"
#include "draft07.hpp"
#include "schema_uri.hpp"

namespace sluice {

namespace {

/// The base URI of a schema that names none.
constexpr const char *default_base = "schema:///";

/// What the value of a keyword is made of.
enum class Shape { plain, count, pattern, schema, schema_or_list, list, map, pattern_map, schemas_or_names, ignored };

Shape shape_of(std::string_view keyword) {
  static const std::unordered_map<std::string_view, Shape> shapes = {
      {"type", Shape::plain}, {"enum", Shape::plain}, {"const", Shape::plain}, {"required", Shape::plain},
      {"maximum", Shape::plain}, {"minimum", Shape::plain}, {"exclusiveMaximum", Shape::plain},
      {"exclusiveMinimum", Shape::plain}, {"uniqueItems", Shape::plain}, {"multipleOf", Shape::count},
      {"maxItems", Shape::count}, {"minItems", Shape::count}, {"maxLength", Shape::count},
      {"minLength", Shape::count}, {"maxProperties", Shape::count}, {"minProperties", Shape::count},
      {"pattern", Shape::pattern}, {"additionalItems", Shape::schema}, {"additionalProperties", Shape::schema},
      {"contains", Shape::schema}, {"if", Shape::schema}, {"then", Shape::schema}, {"else", Shape::schema},
      {"not", Shape::schema}, {"propertyNames", Shape::schema}, {"items", Shape::schema_or_list},
      {"allOf", Shape::list}, {"anyOf", Shape::list}, {"oneOf", Shape::list}, {"properties", Shape::map},
      {"patternProperties", Shape::pattern_map}, {"dependencies", Shape::schemas_or_names},
  };
  auto found = shapes.find(keyword);
  return found == shapes.end() ? Shape::ignored : found->second;
}

const json_t *reference_of(const json_t *schema) {
  const json_t *reference = json_is_object(schema) ? member(schema, "$ref") : nullptr;
  return json_is_string(reference) ? reference : nullptr;
}

OwnedJSON checked(json_t *made) {
  if (made == nullptr) throw std::bad_alloc();
  return OwnedJSON(made);
}

/// 3.0 as 3: valijson takes an integer only in its spelling without a point.
OwnedJSON spelled_as_integer(const json_t *number) {
  bool is_exact = json_is_real(number) && is_integral(number) && std::fabs(json_real_value(number)) < 9e15;
  return is_exact ? checked(json_integer(static_cast<json_int_t>(json_real_value(number)))) : retained(number);
}

}  // namespace

SchemaDocument::SchemaDocument(const json_t *schema, const json_t *documents) {
  const json_t *root = add_document(default_base, schema);
  if (documents != nullptr) {
    for_each_member(documents, [&](std::string_view uri, const json_t *document) {
      add_document(split_uri(uri).resource, document);
    });
  }
  number_of_target(root);
  resolve_references();
}

const json_t *SchemaDocument::add_document(const std::string &uri, const json_t *schema) {
  // The copy is a tree, so that one subschema has one address and one base URI.
  copies_.push_back(OwnedJSON(json_deep_copy(schema)));
  const json_t *copy = copies_.back().get();
  if (copy == nullptr) throw SchemaError("the schema contains itself, or memory is short");
  resources_.emplace(uri, copy);
  walk(copy, uri, 0);
  return copy;
}

void SchemaDocument::walk(const json_t *schema, std::string base, int depth) {
  if (depth > SLUICE_SCHEMA_NESTING_LIMIT) {
    throw SchemaError("subschemas are nested deeper than " + std::to_string(SLUICE_SCHEMA_NESTING_LIMIT) + " levels");
  }
  if (!json_is_object(schema) || bases_.count(schema) != 0) return;
  // Beside `$ref` every other keyword is without meaning, `$id` included (draft-07 §8.3).
  if (reference_of(schema) != nullptr) {
    references_.push_back(schema);
  } else {
    note_identifier(schema, base);
  }
  bases_.emplace(schema, base);
  walk_children(schema, base, depth);
}

void SchemaDocument::note_identifier(const json_t *schema, std::string &base) {
  const json_t *identifier = member(schema, "$id");
  if (!json_is_string(identifier)) return;
  std::string uri = resolve_uri(base, text_of(identifier));
  SplitURI split = split_uri(uri);
  base = split.resource;
  resources_.emplace(split.fragment.empty() ? split.resource : uri, schema);
}

void SchemaDocument::walk_children(const json_t *schema, const std::string &base, int depth) {
  for_each_member(schema, [&](std::string_view keyword, const json_t *value) {
    Shape shape = keyword == "definitions" ? Shape::map : shape_of(keyword);
    bool holds_schema = shape == Shape::schema || (shape == Shape::schema_or_list && !json_is_array(value));
    bool holds_list = (shape == Shape::list || shape == Shape::schema_or_list) && json_is_array(value);
    bool holds_map = shape == Shape::map || shape == Shape::pattern_map || shape == Shape::schemas_or_names;
    if (holds_schema) walk(value, base, depth + 1);
    if (holds_list) {
      for (std::size_t index = 0; index < json_array_size(value); ++index) {
        walk(json_array_get(value, index), base, depth + 1);
      }
    }
    if (holds_map && json_is_object(value)) {
      for_each_member(value, [&](std::string_view, const json_t *child) { walk(child, base, depth + 1); });
    }
  });
}

/// Follows a chain of references to the subschema at its end, which gets a number when it has none.
std::size_t SchemaDocument::number_of_target(const json_t *schema) {
  const json_t *end = schema;
  for (std::size_t steps = 0; reference_of(end) != nullptr; ++steps) {
    if (steps > references_.size()) {
      throw SchemaError("\"$ref\": " + short_text(reference_of(schema)) + " leads back to itself");
    }
    end = target(end);
  }
  auto [place, is_new] = numbers_.emplace(end, targets_.size());
  if (is_new) targets_.push_back(end);
  return place->second;
}

const json_t *SchemaDocument::target(const json_t *reference) {
  std::string_view text = text_of(reference_of(reference));
  std::string uri = resolve_uri(bases_.at(reference), text);
  SplitURI split = split_uri(uri);
  bool is_pointer = split.fragment.empty() || split.fragment.front() == '/';
  const json_t *found = resource(is_pointer ? split.resource : uri);
  if (found == nullptr) {
    throw SchemaError("\"$ref\": \"" + std::string(text) + "\" names nothing in this schema (nothing is fetched)");
  }
  return is_pointer ? descend(found, split.fragment, text) : found;
}

const json_t *SchemaDocument::resource(const std::string &uri) {
  auto found = resources_.find(uri);
  if (found != resources_.end()) return found->second;
  if (uri != draft07_uri) return nullptr;
  OwnedJSON draft07(json_loads(draft07_text, 0, nullptr));
  return draft07 ? add_document(draft07_uri, draft07.get()) : nullptr;
}

const json_t *SchemaDocument::descend(
    const json_t *from, const std::string &pointer, std::string_view reference) {
  auto known = bases_.find(from);
  std::string base = known == bases_.end() ? default_base : known->second;
  for (const std::string &token : pointer_tokens(pointer)) {
    bool is_index = !token.empty() && token.size() < 10 &&
                    std::all_of(token.begin(), token.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
    if (json_is_object(from)) {
      from = member(from, token);
    } else {
      from = json_is_array(from) && is_index ? json_array_get(from, std::stoul(token)) : nullptr;
    }
    if (from == nullptr) break;
    known = bases_.find(from);
    if (known != bases_.end()) base = known->second;
  }
  if (!json_is_object(from) && !json_is_boolean(from)) {
    throw SchemaError("\"$ref\": \"" + std::string(reference) + "\" does not point to a schema");
  }
  walk(from, base, 0);
  return from;
}

void SchemaDocument::resolve_references() {
  // By index: resolving may walk a part that no keyword led to, and find further references there.
  for (std::size_t index = 0; index < references_.size(); ++index) number_of_target(references_[index]);
}

OwnedJSON SchemaDocument::plain_form(SchemaPatterns &patterns) {
  patterns_ = &patterns;
  OwnedJSON schemas = checked(json_object());
  for (std::size_t number = 0; number < targets_.size(); ++number) {
    add_member(schemas.get(), std::to_string(number), emit(targets_[number], true));
  }
  OwnedJSON plain = reference_to(0);
  add_member(plain.get(), "s", std::move(schemas));
  return plain;
}

OwnedJSON SchemaDocument::reference_to(std::size_t number) const {
  OwnedJSON reference = checked(json_object());
  add_member(reference.get(), "$ref", checked(json_string(("#/s/" + std::to_string(number)).c_str())));
  return reference;
}

OwnedJSON SchemaDocument::emit(const json_t *schema, bool is_target) {
  if (reference_of(schema) != nullptr) return reference_to(number_of_target(schema));
  if (!json_is_object(schema)) return retained(schema);
  auto numbered = numbers_.find(schema);
  if (!is_target && numbered != numbers_.end()) return reference_to(numbered->second);
  OwnedJSON plain = checked(json_object());
  for_each_member(schema, [&](std::string_view keyword, const json_t *value) {
    if (shape_of(keyword) != Shape::ignored) add_member(plain.get(), keyword, emit_keyword(keyword, value));
  });
  return plain;
}

OwnedJSON SchemaDocument::emit_keyword(std::string_view keyword, const json_t *value) {
  // valijson looks this one up under the path of the schema around it, and finds that one instead.
  if (keyword == "propertyNames") return reference_to(number_of_target(value));
  switch (shape_of(keyword)) {
    case Shape::count: return spelled_as_integer(value);
    case Shape::pattern:
      patterns_->add(text_of(value));
      return retained(value);
    case Shape::schema: return emit(value, false);
    case Shape::schema_or_list: return json_is_array(value) ? emit_list(value) : emit(value, false);
    case Shape::list: return emit_list(value);
    case Shape::pattern_map:
      for_each_member(value, [&](std::string_view pattern, const json_t *) { patterns_->add(pattern); });
      return emit_map(value);
    case Shape::map:
    case Shape::schemas_or_names: return emit_map(value);
    case Shape::plain:
    case Shape::ignored: break;
  }
  return retained(value);
}

OwnedJSON SchemaDocument::emit_list(const json_t *list) {
  OwnedJSON plain = checked(json_array());
  for (std::size_t index = 0; index < json_array_size(list); ++index) {
    json_array_append_new(plain.get(), emit(json_array_get(list, index), false).release());
  }
  return plain;
}

OwnedJSON SchemaDocument::emit_map(const json_t *map) {
  OwnedJSON plain = checked(json_object());
  for_each_member(map, [&](std::string_view key, const json_t *value) {
    add_member(plain.get(), key, emit(value, false));
  });
  return plain;
}

}  // namespace sluice
