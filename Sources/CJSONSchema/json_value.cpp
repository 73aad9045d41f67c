#include "json_value.hpp"

#include <cmath>
#include <functional>

#include "CJSONSchema.h"

namespace sluice {

namespace {

void require_shallow(int depth) {
  if (depth > SLUICE_SCHEMA_DEPTH_LIMIT) throw SchemaError("value nested too deeply to compare");
}

bool integer_equals_real(json_int_t integer, double real) {
  // 2^63 is the first double that no longer fits; the cast below would be undefined from there on.
  constexpr double limit = 9223372036854775808.0;
  return real >= -limit && real < limit && std::trunc(real) == real && static_cast<json_int_t>(real) == integer;
}

bool equal_numbers(const json_t *left, const json_t *right) {
  if (json_is_integer(left) && json_is_integer(right)) return json_integer_value(left) == json_integer_value(right);
  if (json_is_real(left) && json_is_real(right)) return json_real_value(left) == json_real_value(right);
  if (json_is_integer(left)) return integer_equals_real(json_integer_value(left), json_real_value(right));
  return integer_equals_real(json_integer_value(right), json_real_value(left));
}

bool equal_arrays(const json_t *left, const json_t *right, int depth) {
  if (json_array_size(left) != json_array_size(right)) return false;
  for (std::size_t index = 0; index < json_array_size(left); ++index) {
    if (!equal_values(json_array_get(left, index), json_array_get(right, index), depth + 1)) return false;
  }
  return true;
}

bool equal_objects(const json_t *left, const json_t *right, int depth) {
  if (json_object_size(left) != json_object_size(right)) return false;
  bool equal = true;
  for_each_member(left, [&](std::string_view key, const json_t *value) {
    const json_t *other = equal ? member(right, key) : nullptr;
    equal = other != nullptr && equal_values(value, other, depth + 1);
  });
  return equal;
}

}  // namespace

void add_member(json_t *object, std::string_view key, OwnedJSON value) {
  if (json_object_setn_new(object, key.data(), key.size(), value.release()) != 0) throw std::bad_alloc();
}

bool equal_values(const json_t *left, const json_t *right, int depth) {
  require_shallow(depth);
  if (json_is_number(left) && json_is_number(right)) return equal_numbers(left, right);
  if (json_typeof(left) != json_typeof(right)) return false;
  switch (json_typeof(left)) {
    case JSON_STRING: return text_of(left) == text_of(right);
    case JSON_ARRAY: return equal_arrays(left, right, depth);
    case JSON_OBJECT: return equal_objects(left, right, depth);
    default: return true;
  }
}

std::size_t hash_value(const json_t *value, int depth) {
  require_shallow(depth);
  std::size_t hash = 0;
  switch (json_typeof(value)) {
    case JSON_INTEGER:
    case JSON_REAL: return std::hash<double>()(json_number_value(value));
    case JSON_STRING: return std::hash<std::string_view>()(text_of(value));
    case JSON_ARRAY:
      for (std::size_t index = 0; index < json_array_size(value); ++index) {
        hash = hash * 31 + hash_value(json_array_get(value, index), depth + 1);
      }
      return hash + 7;
    case JSON_OBJECT:
      // A sum, because the order of members does not count.
      for_each_member(value, [&](std::string_view key, const json_t *item) {
        hash += std::hash<std::string_view>()(key) * 31 ^ hash_value(item, depth + 1);
      });
      return hash + 13;
    default: return static_cast<std::size_t>(json_typeof(value));
  }
}

std::string short_text(const json_t *value, std::size_t limit) {
  if (json_is_object(value) && json_object_size(value) > 8) return "an object";
  if (json_is_array(value) && json_array_size(value) > 8) return "an array";
  struct FreeText {
    void operator()(char *text) const noexcept { free(text); }
  };
  std::unique_ptr<char, FreeText> dumped(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
  if (!dumped) return kind_of(value);
  return short_key(dumped.get(), limit);
}

std::string short_key(std::string_view key, std::size_t limit) {
  if (key.size() <= limit) return std::string(key);
  while (limit > 0 && (static_cast<unsigned char>(key[limit]) & 0xC0) == 0x80) --limit;
  return std::string(key.substr(0, limit)) + "…";
}

const char *kind_of(const json_t *value) {
  switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "null";
  }
  return "something else";
}

bool is_integral(const json_t *value) {
  if (!json_is_real(value)) return json_is_integer(value);
  return std::trunc(json_real_value(value)) == json_real_value(value);
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  return count;
}

}  // namespace sluice
