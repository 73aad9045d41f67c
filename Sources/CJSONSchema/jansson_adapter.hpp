// How valijson reads jansson values: the types that its `BasicAdapter` template asks for.
//
// Only schemas are read through these; `SchemaChecker` looks at checked values directly.
#pragma once

#ifndef VALIJSON_USE_EXCEPTIONS
#define VALIJSON_USE_EXCEPTIONS 1
#endif

#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <valijson/internal/adapter.hpp>
#include <valijson/internal/basic_adapter.hpp>
#include <valijson/internal/frozen_value.hpp>

#include "json_value.hpp"

namespace sluice {

class JanssonAdapter;

/// Throws once the stack has grown by more than the budget below the outermost guard of this thread.
///
/// valijson follows references recursively and has no limit of its own; each step constructs an adapter.
class StackGuard {
 public:
  StackGuard() noexcept : outer_(floor_) {
    if (floor_ == nullptr) floor_ = here() - budget_bytes;
  }
  ~StackGuard() { floor_ = outer_; }
  StackGuard(const StackGuard &) = delete;
  StackGuard &operator=(const StackGuard &) = delete;

  static void check() {
    if (floor_ != nullptr && here() < floor_) throw SchemaError("subschemas refer to one another too deeply");
  }

 private:
  static constexpr std::ptrdiff_t budget_bytes = 768 * 1024;
  static const char *here() noexcept { return static_cast<const char *>(__builtin_frame_address(0)); }
  static inline thread_local const char *floor_ = nullptr;
  const char *outer_;
};

/// A copy that outlives the schema's text: what `enum` and `const` keep.
class JanssonFrozenValue final : public valijson::adapters::FrozenValue {
 public:
  explicit JanssonFrozenValue(OwnedJSON value) : value_(std::move(value)) {}
  FrozenValue *clone() const override { return new JanssonFrozenValue(retained(value_.get())); }
  bool equalTo(const valijson::adapters::Adapter &other, bool strict) const override;
  const json_t *json() const noexcept { return value_.get(); }

 private:
  OwnedJSON value_;
};

/// Walks an array by index. A null array is an empty one.
class JanssonArrayIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = JanssonAdapter;
  using difference_type = std::ptrdiff_t;
  using pointer = JanssonAdapter *;
  using reference = JanssonAdapter &;

  JanssonArrayIterator(const json_t *array, std::size_t index) : array_(array), index_(index) {}
  JanssonAdapter operator*() const;
  valijson::adapters::DerefProxy<JanssonAdapter> operator->() const;
  bool operator==(const JanssonArrayIterator &other) const { return index_ == other.index_; }
  bool operator!=(const JanssonArrayIterator &other) const { return index_ != other.index_; }
  JanssonArrayIterator &operator++() { return ++index_, *this; }
  JanssonArrayIterator operator++(int) { return {array_, index_++}; }
  JanssonArrayIterator &operator--() { return --index_, *this; }
  void advance(std::ptrdiff_t distance) { index_ += static_cast<std::size_t>(distance); }

 private:
  const json_t *array_;
  std::size_t index_;
};

class JanssonArray {
 public:
  using const_iterator = JanssonArrayIterator;
  using iterator = JanssonArrayIterator;

  explicit JanssonArray(const json_t *array = nullptr) : array_(array) {}
  JanssonArrayIterator begin() const { return {array_, 0}; }
  JanssonArrayIterator end() const { return {array_, size()}; }
  std::size_t size() const { return json_array_size(array_); }

 private:
  const json_t *array_;
};

using JanssonMember = std::pair<std::string, JanssonAdapter>;

/// Walks the members of an object in the order in which they were inserted.
class JanssonMemberIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = JanssonMember;
  using difference_type = std::ptrdiff_t;
  using pointer = JanssonMember *;
  using reference = JanssonMember &;

  JanssonMemberIterator(json_t *object, void *at) : object_(object), at_(at) {}
  JanssonMember operator*() const;
  valijson::adapters::DerefProxy<JanssonMember> operator->() const;
  bool operator==(const JanssonMemberIterator &other) const { return at_ == other.at_; }
  bool operator!=(const JanssonMemberIterator &other) const { return at_ != other.at_; }
  JanssonMemberIterator &operator++() { return at_ = json_object_iter_next(object_, at_), *this; }

 private:
  json_t *object_;
  void *at_;
};

class JanssonObject {
 public:
  using const_iterator = JanssonMemberIterator;
  using iterator = JanssonMemberIterator;

  explicit JanssonObject(const json_t *object = nullptr) : object_(const_cast<json_t *>(object)) {}
  JanssonMemberIterator begin() const { return {object_, json_object_iter(object_)}; }
  JanssonMemberIterator end() const { return {object_, nullptr}; }
  JanssonMemberIterator find(const std::string &key) const {
    return {object_, json_object_iter_at(object_, key.c_str())};
  }
  std::size_t size() const { return json_object_size(object_); }

 private:
  json_t *object_;
};

/// Reads one value. A null pointer means an empty object, as valijson expects of its adapters.
class JanssonValue {
 public:
  JanssonValue() = default;
  explicit JanssonValue(const json_t *value) : value_(value) { StackGuard::check(); }

  valijson::adapters::FrozenValue *freeze() const {
    OwnedJSON copy(value_ ? json_deep_copy(value_) : json_object());
    if (!copy) throw std::bad_alloc();
    return new JanssonFrozenValue(std::move(copy));
  }
  opt::optional<JanssonArray> getArrayOptional() const {
    return isArray() ? opt::make_optional(JanssonArray(value_)) : opt::optional<JanssonArray>();
  }
  opt::optional<JanssonObject> getObjectOptional() const {
    return isObject() ? opt::make_optional(JanssonObject(value_)) : opt::optional<JanssonObject>();
  }
  bool getArraySize(std::size_t &size) const { return isArray() && (size = json_array_size(value_), true); }
  bool getObjectSize(std::size_t &size) const { return isObject() && (size = json_object_size(value_), true); }
  bool getBool(bool &result) const { return isBool() && (result = json_is_true(value_), true); }
  bool getDouble(double &result) const { return isDouble() && (result = json_real_value(value_), true); }
  bool getInteger(int64_t &result) const { return isInteger() && (result = json_integer_value(value_), true); }
  bool getString(std::string &result) const { return isString() && (result = std::string(text_of(value_)), true); }

  static bool hasStrictTypes() { return true; }
  bool isArray() const { return json_is_array(value_); }
  bool isBool() const { return json_is_boolean(value_); }
  bool isDouble() const { return json_is_real(value_); }
  bool isInteger() const { return json_is_integer(value_); }
  bool isNull() const { return json_is_null(value_); }
  bool isNumber() const { return json_is_number(value_); }
  bool isObject() const { return value_ == nullptr || json_is_object(value_); }
  bool isString() const { return json_is_string(value_); }

 private:
  const json_t *value_ = nullptr;
};

class JanssonAdapter final
    : public valijson::adapters::
          BasicAdapter<JanssonAdapter, JanssonArray, JanssonMember, JanssonObject, JanssonValue> {
 public:
  JanssonAdapter() = default;
  explicit JanssonAdapter(const json_t *value) : BasicAdapter(JanssonValue(value)) {}
  explicit JanssonAdapter(const json_t &value) : BasicAdapter(JanssonValue(&value)) {}
};

inline JanssonAdapter JanssonArrayIterator::operator*() const {
  return JanssonAdapter(json_array_get(array_, index_));
}

inline valijson::adapters::DerefProxy<JanssonAdapter> JanssonArrayIterator::operator->() const {
  return valijson::adapters::DerefProxy<JanssonAdapter>(**this);
}

inline JanssonMember JanssonMemberIterator::operator*() const {
  return {std::string(json_object_iter_key(at_), json_object_iter_key_len(at_)),
          JanssonAdapter(json_object_iter_value(at_))};
}

inline valijson::adapters::DerefProxy<JanssonMember> JanssonMemberIterator::operator->() const {
  return valijson::adapters::DerefProxy<JanssonMember>(**this);
}

inline bool JanssonFrozenValue::equalTo(const valijson::adapters::Adapter &other, bool strict) const {
  return JanssonAdapter(value_.get()).equalTo(other, strict);
}

}  // namespace sluice

template <>
struct valijson::adapters::AdapterTraits<sluice::JanssonAdapter> {
  using DocumentType = json_t;
  static std::string adapterName() { return "JanssonAdapter"; }
};
