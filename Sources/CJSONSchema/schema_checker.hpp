// Checks a jansson value against the constraints that valijson parsed.
#pragma once

#include "jansson_adapter.hpp"
// After the adapter, which configures valijson.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/constraints/constraint_visitor.hpp>
#include <valijson/subschema.hpp>
#include <vector>

#include "schema_pattern.hpp"

namespace sluice {

struct Violation {
  std::string pointer;
  std::string message;
  std::size_t depth;
};
using Violations = std::vector<Violation>;

/// valijson's own visitor says that something failed, but not what was expected; it also counts numbers by their
/// spelling, recurses without limit and backtracks in patterns. This one is for one check and one thread.
class SchemaChecker final : private valijson::constraints::ConstraintVisitor {
 public:
  explicit SchemaChecker(const SchemaPatterns &patterns) : patterns_(patterns) {}

  /// Throws `SchemaError` when a limit is met. Without `violations` it stops at the first.
  bool check(const valijson::Subschema &schema, const json_t *value, Violations *violations);

  /// JSON Pointer of the value being looked at, for a limit that was met there.
  std::string pointer() const;

 private:
  using Subschema = valijson::Subschema;

  bool visit(const AllOfConstraint &) override;
  bool visit(const AnyOfConstraint &) override;
  bool visit(const ConditionalConstraint &) override;
  bool visit(const ConstConstraint &) override;
  bool visit(const ContainsConstraint &) override;
  bool visit(const DependenciesConstraint &) override;
  bool visit(const EnumConstraint &) override;
  bool visit(const FormatConstraint &) override;
  bool visit(const LinearItemsConstraint &) override;
  bool visit(const MaximumConstraint &) override;
  bool visit(const MaxItemsConstraint &) override;
  bool visit(const MaxLengthConstraint &) override;
  bool visit(const MaxPropertiesConstraint &) override;
  bool visit(const MinimumConstraint &) override;
  bool visit(const MinItemsConstraint &) override;
  bool visit(const MinLengthConstraint &) override;
  bool visit(const MinPropertiesConstraint &) override;
  bool visit(const MultipleOfDoubleConstraint &) override;
  bool visit(const MultipleOfIntConstraint &) override;
  bool visit(const NotConstraint &) override;
  bool visit(const OneOfConstraint &) override;
  bool visit(const PatternConstraint &) override;
  bool visit(const PolyConstraint &) override;
  bool visit(const PropertiesConstraint &) override;
  bool visit(const PropertyNamesConstraint &) override;
  bool visit(const RequiredConstraint &) override;
  bool visit(const SingularItemsConstraint &) override;
  bool visit(const TypeConstraint &) override;
  bool visit(const UniqueItemsConstraint &) override;

  bool apply(const Subschema *schema, const json_t *value);
  bool apply_at(std::string token, const Subschema *schema, const json_t *value);
  bool holds(const Subschema *schema, const json_t *value);
  bool check_additional(const PropertiesConstraint &constraint, const std::set<std::string> &known);
  std::string allowed_keys(const PropertiesConstraint &constraint) const;
  template <typename Constraint>
  std::vector<std::size_t> matching_forms(
      const Constraint &constraint, bool first_only, std::vector<Violations> &misfits);
  bool fits_no_form(std::vector<Violations> &misfits);
  bool fail_size(const char *direction, std::uint64_t limit, std::size_t actual, const char *unit);
  bool fail(const std::string &message);
  bool fail_at(std::string_view token, const std::string &message);

  const SchemaPatterns &patterns_;
  const json_t *value_ = nullptr;
  std::vector<std::string> path_;
  Violations *violations_ = nullptr;
  int depth_ = 0;
  int steps_ = 0;
};

}  // namespace sluice
