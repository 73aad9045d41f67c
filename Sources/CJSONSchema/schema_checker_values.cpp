// The constraints that look at one value alone.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "CJSONSchema.h"
#include "schema_checker.hpp"

namespace sluice {

namespace {

const json_t *frozen(const valijson::adapters::FrozenValue &value) {
  return static_cast<const JanssonFrozenValue &>(value).json();
}

std::string number_text(double number) {
  OwnedJSON value(json_real(number));
  bool is_short = std::trunc(number) == number && std::fabs(number) < 1e15;
  if (is_short) value.reset(json_integer(static_cast<json_int_t>(number)));
  return value ? short_text(value.get()) : std::to_string(number);
}

bool is_of_type(const json_t *value, valijson::constraints::TypeConstraint::JsonType type) {
  using Type = valijson::constraints::TypeConstraint;
  switch (type) {
    case Type::kAny: return true;
    case Type::kArray: return json_is_array(value);
    case Type::kBoolean: return json_is_boolean(value);
    case Type::kInteger: return is_integral(value);
    case Type::kNull: return json_is_null(value);
    case Type::kNumber: return json_is_number(value);
    case Type::kObject: return json_is_object(value);
    case Type::kString: return json_is_string(value);
  }
  return false;
}

const char *name_of(valijson::constraints::TypeConstraint::JsonType type) {
  using Type = valijson::constraints::TypeConstraint;
  switch (type) {
    case Type::kAny: return "anything";
    case Type::kArray: return "an array";
    case Type::kBoolean: return "true or false";
    case Type::kInteger: return "an integer";
    case Type::kNull: return "null";
    case Type::kNumber: return "a number";
    case Type::kObject: return "an object";
    case Type::kString: return "a string";
  }
  return "something else";
}

/// Whether a binary number is a decimal multiple: 0.0075 of 0.0001, although neither is exact.
bool is_multiple_of(double number, double divisor) {
  double quotient = number / divisor;
  if (!std::isfinite(quotient) || std::fabs(quotient) > 4503599627370496.0) return std::fmod(number, divisor) == 0;
  double nearest = std::round(quotient) * divisor;
  return std::fabs(nearest - number) <= 2 * std::numeric_limits<double>::epsilon() * std::fabs(number);
}

}  // namespace

bool SchemaChecker::visit(const TypeConstraint &constraint) {
  bool valid = false;
  std::string expected;
  constraint.applyToNamedTypes([&](TypeConstraint::JsonType type) {
    valid = valid || is_of_type(value_, type);
    if (violations_ != nullptr) expected += (expected.empty() ? "" : " or ") + std::string(name_of(type));
    return !valid;
  });
  return valid || fail("expected " + expected + ", found " + kind_of(value_));
}

bool SchemaChecker::visit(const ConstConstraint &constraint) {
  const json_t *expected = frozen(*constraint.getValue());
  if (equal_values(expected, value_)) return true;
  return fail("expected " + short_text(expected) + ", found " + short_text(value_));
}

bool SchemaChecker::visit(const EnumConstraint &constraint) {
  bool valid = false;
  std::string expected;
  constraint.applyToValues([&](const valijson::adapters::FrozenValue &allowed) {
    valid = equal_values(frozen(allowed), value_);
    if (violations_ != nullptr && expected.size() < 300) {
      expected += (expected.empty() ? "" : ", ") + short_text(frozen(allowed));
    }
    return !valid;
  });
  return valid || fail("expected one of " + expected + "; found " + short_text(value_));
}

bool SchemaChecker::visit(const FormatConstraint &) { return true; }

bool SchemaChecker::visit(const PolyConstraint &) { return true; }

bool SchemaChecker::visit(const MaximumConstraint &constraint) {
  if (!json_is_number(value_)) return true;
  double number = json_number_value(value_);
  double limit = constraint.getMaximum();
  bool is_exclusive = constraint.getExclusiveMaximum();
  if (is_exclusive ? number < limit : number <= limit) return true;
  return fail(std::string("expected a number ") + (is_exclusive ? "below " : "up to ") + number_text(limit) +
              ", found " + short_text(value_));
}

bool SchemaChecker::visit(const MinimumConstraint &constraint) {
  if (!json_is_number(value_)) return true;
  double number = json_number_value(value_);
  double limit = constraint.getMinimum();
  bool is_exclusive = constraint.getExclusiveMinimum();
  if (is_exclusive ? number > limit : number >= limit) return true;
  return fail(std::string("expected a number ") + (is_exclusive ? "above " : "from ") + number_text(limit) +
              (is_exclusive ? "" : " up") + ", found " + short_text(value_));
}

bool SchemaChecker::visit(const MultipleOfDoubleConstraint &constraint) {
  if (!json_is_number(value_) || is_multiple_of(json_number_value(value_), constraint.getDivisor())) return true;
  return fail("expected a multiple of " + number_text(constraint.getDivisor()) + ", found " + short_text(value_));
}

bool SchemaChecker::visit(const MultipleOfIntConstraint &constraint) {
  if (!json_is_number(value_)) return true;
  int64_t divisor = constraint.getDivisor();
  bool valid = json_is_integer(value_) ? json_integer_value(value_) % divisor == 0
                                       : is_multiple_of(json_real_value(value_), static_cast<double>(divisor));
  return valid || fail("expected a multiple of " + std::to_string(divisor) + ", found " + short_text(value_));
}

bool SchemaChecker::fail_size(const char *direction, std::uint64_t limit, std::size_t actual, const char *unit) {
  return fail(std::string("expected ") + direction + " " + std::to_string(limit) + " " + unit + ", found " +
              std::to_string(actual));
}

bool SchemaChecker::visit(const MaxItemsConstraint &constraint) {
  std::size_t count = json_array_size(value_);
  return !json_is_array(value_) || count <= constraint.getMaxItems() ||
         fail_size("at most", constraint.getMaxItems(), count, "items");
}

bool SchemaChecker::visit(const MinItemsConstraint &constraint) {
  std::size_t count = json_array_size(value_);
  return !json_is_array(value_) || count >= constraint.getMinItems() ||
         fail_size("at least", constraint.getMinItems(), count, "items");
}

bool SchemaChecker::visit(const MaxPropertiesConstraint &constraint) {
  std::size_t count = json_object_size(value_);
  return !json_is_object(value_) || count <= constraint.getMaxProperties() ||
         fail_size("at most", constraint.getMaxProperties(), count, "keys");
}

bool SchemaChecker::visit(const MinPropertiesConstraint &constraint) {
  std::size_t count = json_object_size(value_);
  return !json_is_object(value_) || count >= constraint.getMinProperties() ||
         fail_size("at least", constraint.getMinProperties(), count, "keys");
}

bool SchemaChecker::visit(const MaxLengthConstraint &constraint) {
  if (!json_is_string(value_)) return true;
  std::size_t count = count_characters(text_of(value_));
  return count <= constraint.getMaxLength() || fail_size("at most", constraint.getMaxLength(), count, "characters");
}

bool SchemaChecker::visit(const MinLengthConstraint &constraint) {
  if (!json_is_string(value_)) return true;
  std::size_t count = count_characters(text_of(value_));
  return count >= constraint.getMinLength() || fail_size("at least", constraint.getMinLength(), count, "characters");
}

bool SchemaChecker::visit(const PatternConstraint &constraint) {
  if (!json_is_string(value_)) return true;
  std::string pattern = constraint.getPattern<std::string::allocator_type>();
  return patterns_.matches(pattern, text_of(value_)) || fail("expected a text that matches /" + pattern + "/");
}

bool SchemaChecker::visit(const RequiredConstraint &constraint) {
  if (!json_is_object(value_)) return true;
  bool valid = true;
  constraint.applyToRequiredProperties([&](const auto &name) {
    if (member(value_, name) == nullptr) valid = fail("missing key \"" + std::string(name) + "\"");
    return true;
  });
  return valid;
}

bool SchemaChecker::visit(const UniqueItemsConstraint &) {
  if (!json_is_array(value_)) return true;
  std::unordered_multimap<std::size_t, std::size_t> seen;
  for (std::size_t index = 0; index < json_array_size(value_); ++index) {
    const json_t *item = json_array_get(value_, index);
    std::size_t hash = hash_value(item);
    auto [next, end] = seen.equal_range(hash);
    for (; next != end; ++next) {
      if (!equal_values(json_array_get(value_, next->second), item)) continue;
      return fail("items " + std::to_string(next->second) + " and " + std::to_string(index) + " are equal");
    }
    seen.emplace(hash, index);
  }
  return true;
}

}  // namespace sluice
