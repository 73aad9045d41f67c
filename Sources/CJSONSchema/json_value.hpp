// jansson values as C++ sees them: ownership, iteration, and equality as draft-07 defines it.
#pragma once

#include <jansson.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sluice {

struct ReleaseJSON {
  void operator()(json_t *value) const noexcept { json_decref(value); }
};
using OwnedJSON = std::unique_ptr<json_t, ReleaseJSON>;

inline OwnedJSON retained(const json_t *value) { return OwnedJSON(json_incref(const_cast<json_t *>(value))); }

/// A schema that cannot be compiled, or a check that met one of its limits; the text is for people.
class SchemaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Calls `body(std::string_view key, const json_t *value)` for each member, in the order in which they were inserted.
template <typename Body>
void for_each_member(const json_t *object, Body body) {
  json_t *members = const_cast<json_t *>(object);
  for (void *at = json_object_iter(members); at != nullptr; at = json_object_iter_next(members, at)) {
    body(std::string_view(json_object_iter_key(at), json_object_iter_key_len(at)), json_object_iter_value(at));
  }
}

inline std::string_view text_of(const json_t *string) {
  return std::string_view(json_string_value(string), json_string_length(string));
}

inline const json_t *member(const json_t *object, std::string_view key) {
  return json_object_getn(object, key.data(), key.size());
}

/// Adds a member, taking over the reference; throws when memory is short.
void add_member(json_t *object, std::string_view key, OwnedJSON value);

/// Equality of draft-07 §4.2.3: numbers by their mathematical value, objects without regard to order.
bool equal_values(const json_t *left, const json_t *right, int depth = 0);

/// A hash that agrees with `equal_values`.
std::size_t hash_value(const json_t *value, int depth = 0);

/// The value as compact JSON, cut after `limit` bytes at a character boundary.
std::string short_text(const json_t *value, std::size_t limit = 60);

/// A key, cut in the same way.
std::string short_key(std::string_view key, std::size_t limit = 60);

/// `string "…"` without its content, `number`, `object`…: what a message may say of a value that might be a secret.
const char *kind_of(const json_t *value);

/// Whether the value is a number without a fractional part, 1.0 included.
bool is_integral(const json_t *value);

/// Code points in a UTF-8 text.
std::size_t count_characters(std::string_view text);

}  // namespace sluice
