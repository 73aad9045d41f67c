// The walk: how subschemas are applied to a value, its members and its elements.
#include "schema_checker.hpp"

#include <algorithm>
#include <utility>

#include "CJSONSchema.h"
#include "schema_uri.hpp"

namespace sluice {

bool SchemaChecker::check(const Subschema &schema, const json_t *value, Violations *violations) {
  violations_ = violations;
  return apply(&schema, value);
}

std::string SchemaChecker::pointer() const {
  std::string pointer;
  for (const std::string &token : path_) pointer += "/" + pointer_token(token);
  return pointer;
}

bool SchemaChecker::fail(const std::string &message) {
  if (violations_ != nullptr && violations_->size() < SLUICE_SCHEMA_REPORT_LIMIT) {
    violations_->push_back({pointer(), message, path_.size()});
  }
  return false;
}

bool SchemaChecker::fail_at(std::string_view token, const std::string &message) {
  path_.emplace_back(token);
  fail(message);
  path_.pop_back();
  return false;
}

bool SchemaChecker::apply(const Subschema *schema, const json_t *value) {
  if (schema->getAlwaysInvalid()) return fail("nothing is allowed here");
  if (++steps_ > SLUICE_SCHEMA_STEP_LIMIT) throw SchemaError("takes too many steps to check");
  if (++depth_ > SLUICE_SCHEMA_DEPTH_LIMIT) {
    throw SchemaError("nested too deeply to check (limit " + std::to_string(SLUICE_SCHEMA_DEPTH_LIMIT) + ")");
  }
  const json_t *outer = std::exchange(value_, value);
  Subschema::ApplyFunction visit = [this](const valijson::constraints::Constraint &constraint) {
    return constraint.accept(*this);
  };
  bool valid = violations_ != nullptr ? schema->apply(visit) : schema->applyStrict(visit);
  value_ = outer;
  --depth_;
  return valid;
}

bool SchemaChecker::apply_at(std::string token, const Subschema *schema, const json_t *value) {
  path_.push_back(std::move(token));
  bool valid = apply(schema, value);
  path_.pop_back();
  return valid;
}

/// Applies a subschema whose failure is not an error by itself.
bool SchemaChecker::holds(const Subschema *schema, const json_t *value) {
  Violations *outer = std::exchange(violations_, nullptr);
  bool valid = apply(schema, value);
  violations_ = outer;
  return valid;
}

bool SchemaChecker::visit(const AllOfConstraint &constraint) {
  bool valid = true;
  constraint.applyToSubschemas([&](unsigned, const Subschema *schema) {
    valid = apply(schema, value_) && valid;
    return valid || violations_ != nullptr;
  });
  return valid;
}

/// The numbers of the forms that fit, and what is wrong with each of the others.
template <typename Constraint>
std::vector<std::size_t> SchemaChecker::matching_forms(
    const Constraint &constraint, bool first_only, std::vector<Violations> &misfits) {
  std::vector<std::size_t> matches;
  Violations *outer = violations_;
  constraint.applyToSubschemas([&](unsigned index, const Subschema *schema) {
    Violations found;
    violations_ = outer == nullptr ? nullptr : &found;
    if (apply(schema, value_)) {
      matches.push_back(index + 1);
    } else {
      misfits.push_back(std::move(found));
    }
    return matches.empty() || !first_only;
  });
  violations_ = outer;
  return matches;
}

/// Reports the form that came furthest; where all fail at this value itself, what any of them would have taken.
bool SchemaChecker::fits_no_form(std::vector<Violations> &misfits) {
  if (violations_ == nullptr) return false;
  auto depth = [](const Violations &form) { return form.empty() ? 0 : form.front().depth; };
  auto closest = std::max_element(misfits.begin(), misfits.end(), [&](const Violations &left, const Violations &right) {
    return depth(left) < depth(right);
  });
  if (closest != misfits.end() && depth(*closest) > path_.size()) {
    for (Violation &violation : *closest) {
      if (violations_->size() < SLUICE_SCHEMA_REPORT_LIMIT) violations_->push_back(std::move(violation));
    }
    return false;
  }
  std::string all;
  for (const Violations &form : misfits) {
    if (form.empty() || all.size() > 400) continue;
    all += (all.empty() ? "" : "; or ") + form.front().message;
  }
  return fail(all.empty() ? "fits none of the allowed forms" : all);
}

bool SchemaChecker::visit(const AnyOfConstraint &constraint) {
  std::vector<Violations> misfits;
  return !matching_forms(constraint, true, misfits).empty() || fits_no_form(misfits);
}

bool SchemaChecker::visit(const OneOfConstraint &constraint) {
  std::vector<Violations> misfits;
  std::vector<std::size_t> matches = matching_forms(constraint, false, misfits);
  if (matches.empty()) return fits_no_form(misfits);
  if (matches.size() == 1) return true;
  return fail("fits forms " + std::to_string(matches[0]) + " and " + std::to_string(matches[1]) +
              " at once, expected exactly one");
}

bool SchemaChecker::visit(const NotConstraint &constraint) {
  if (!holds(constraint.getSubschema(), value_)) return true;
  return fail("is of a form that is excluded here");
}

bool SchemaChecker::visit(const ConditionalConstraint &constraint) {
  bool condition = holds(constraint.getIfSubschema(), value_);
  const Subschema *next = condition ? constraint.getThenSubschema() : constraint.getElseSubschema();
  return next == nullptr || apply(next, value_);
}

bool SchemaChecker::visit(const DependenciesConstraint &constraint) {
  if (!json_is_object(value_)) return true;
  bool valid = true;
  constraint.applyToPropertyDependencies([&](const auto &key, const auto &needed) {
    if (member(value_, key) == nullptr) return true;
    for (const auto &name : needed) {
      if (member(value_, name) == nullptr) {
        valid = fail("missing key \"" + std::string(name) + "\", which \"" + std::string(key) + "\" needs");
      }
    }
    return true;
  });
  constraint.applyToSchemaDependencies([&](const auto &key, const Subschema *schema) {
    if (member(value_, key) != nullptr) valid = apply(schema, value_) && valid;
    return true;
  });
  return valid;
}

bool SchemaChecker::visit(const PropertiesConstraint &constraint) {
  if (!json_is_object(value_)) return true;
  bool valid = true;
  std::set<std::string> known;
  constraint.applyToProperties([&](const auto &key, const Subschema *schema) {
    const json_t *value = member(value_, key);
    if (value == nullptr) return true;
    known.insert(std::string(key));
    valid = apply_at(std::string(key), schema, value) && valid;
    return valid || violations_ != nullptr;
  });
  constraint.applyToPatternProperties([&](const auto &pattern, const Subschema *schema) {
    for_each_member(value_, [&](std::string_view key, const json_t *value) {
      if (!patterns_.matches(std::string(pattern), key)) return;
      known.insert(std::string(key));
      valid = apply_at(std::string(key), schema, value) && valid;
    });
    return valid || violations_ != nullptr;
  });
  if (!valid && violations_ == nullptr) return false;
  return check_additional(constraint, known) && valid;
}

bool SchemaChecker::check_additional(const PropertiesConstraint &constraint, const std::set<std::string> &known) {
  const Subschema *additional = constraint.getAdditionalPropertiesSubschema();
  bool valid = true;
  for_each_member(value_, [&](std::string_view key, const json_t *value) {
    if (known.count(std::string(key)) != 0) return;
    if (additional != nullptr) {
      valid = apply_at(std::string(key), additional, value) && valid;
    } else {
      valid = fail_at(key, "unknown key \"" + short_key(key) + "\"" + allowed_keys(constraint));
    }
  });
  return valid;
}

std::string SchemaChecker::allowed_keys(const PropertiesConstraint &constraint) const {
  std::string keys;
  if (violations_ == nullptr) return keys;
  constraint.applyToProperties([&](const auto &key, const Subschema *) {
    keys += (keys.empty() ? "" : ", ") + std::string(key);
    return keys.size() < 300;
  });
  return keys.empty() ? "" : "; known here: " + keys;
}

bool SchemaChecker::visit(const PropertyNamesConstraint &constraint) {
  if (!json_is_object(value_)) return true;
  bool valid = true;
  for_each_member(value_, [&](std::string_view key, const json_t *) {
    OwnedJSON name(json_stringn_nocheck(key.data(), key.size()));
    if (!name) throw std::bad_alloc();
    valid = apply_at(std::string(key), constraint.getSubschema(), name.get()) && valid;
  });
  return valid;
}

bool SchemaChecker::visit(const SingularItemsConstraint &constraint) {
  if (!json_is_array(value_) || constraint.getItemsSubschema() == nullptr) return true;
  bool valid = true;
  for (std::size_t index = 0; index < json_array_size(value_) && (valid || violations_ != nullptr); ++index) {
    valid = apply_at(std::to_string(index), constraint.getItemsSubschema(), json_array_get(value_, index)) && valid;
  }
  return valid;
}

bool SchemaChecker::visit(const LinearItemsConstraint &constraint) {
  if (!json_is_array(value_)) return true;
  bool valid = true;
  constraint.applyToItemSubschemas([&](unsigned index, const Subschema *schema) {
    const json_t *item = json_array_get(value_, index);
    if (item != nullptr) valid = apply_at(std::to_string(index), schema, item) && valid;
    return item != nullptr;
  });
  std::size_t listed = constraint.getItemSubschemaCount();
  const Subschema *additional = constraint.getAdditionalItemsSubschema();
  if (additional == nullptr && json_array_size(value_) > listed) {
    return fail_size("at most", listed, json_array_size(value_), "items");
  }
  for (std::size_t index = listed; index < json_array_size(value_); ++index) {
    valid = apply_at(std::to_string(index), additional, json_array_get(value_, index)) && valid;
  }
  return valid;
}

bool SchemaChecker::visit(const ContainsConstraint &constraint) {
  if (!json_is_array(value_)) return true;
  for (std::size_t index = 0; index < json_array_size(value_); ++index) {
    if (holds(constraint.getSubschema(), json_array_get(value_, index))) return true;
  }
  return fail("contains no item of the form that is required");
}

}  // namespace sluice
