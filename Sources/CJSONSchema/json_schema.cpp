// The C functions: nothing thrown inside leaves them.
#include "CJSONSchema.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "draft07.hpp"
#include "schema_checker.hpp"
// After the adapter, which configures valijson.
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>

#include "schema_document.hpp"

struct sluice_schema {
  valijson::Schema parsed;
  sluice::SchemaPatterns patterns;
};

namespace {

using sluice::OwnedJSON;

std::unique_ptr<sluice_schema> parsed(sluice::SchemaDocument document, const sluice_schema *rules);
void require_schema(const sluice_schema &rules, const json_t *schema, const char *name);

/// The schema of schemas, which nothing has checked.
const sluice_schema &schema_of_schemas() {
  static const std::unique_ptr<sluice_schema> shared = [] {
    OwnedJSON draft07(json_loads(sluice::draft07_text, 0, nullptr));
    if (!draft07) throw std::bad_alloc();
    return parsed(sluice::SchemaDocument(draft07.get(), nullptr), nullptr);
  }();
  return *shared;
}

std::unique_ptr<sluice_schema> compiled(const json_t *schema, const json_t *documents) {
  const sluice_schema &rules = schema_of_schemas();
  require_schema(rules, schema, "schema");
  return parsed(sluice::SchemaDocument(schema, documents), &rules);
}

std::unique_ptr<sluice_schema> parsed(sluice::SchemaDocument document, const sluice_schema *rules) {
  auto result = std::make_unique<sluice_schema>();
  OwnedJSON plain = document.plain_form(result->patterns);
  if (rules != nullptr) {
    // `$ref` can lead to places that the first look took for mere data.
    sluice::for_each_member(sluice::member(plain.get(), "s"), [&](std::string_view, const json_t *schema) {
      require_schema(*rules, schema, "schema reached by $ref,");
    });
  }
  sluice::StackGuard guard;
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(sluice::JanssonAdapter(plain.get()), result->parsed);
  return result;
}

/// Refuses a malformed schema with the place in it, before anything trusts its shape.
void require_schema(const sluice_schema &rules, const json_t *schema, const char *name) {
  sluice::Violations violations;
  sluice::SchemaChecker checker(rules.patterns);
  if (checker.check(rules.parsed, schema, &violations)) return;
  const sluice::Violation first = violations.empty() ? sluice::Violation{"", "not a schema", 0} : violations.front();
  throw sluice::SchemaError(std::string(name) + " at \"" + first.pointer + "\": " + first.message);
}

bool checked(const sluice_schema &schema, const json_t *value, sluice_schema_report report, void *context) {
  sluice::Violations violations;
  sluice::SchemaChecker checker(schema.patterns);
  bool valid = false;
  try {
    valid = checker.check(schema.parsed, value, report == nullptr ? nullptr : &violations);
  } catch (const sluice::SchemaError &error) {
    violations.push_back({checker.pointer(), error.what(), 0});
  }
  if (report != nullptr) {
    for (const sluice::Violation &each : violations) report(context, each.pointer.c_str(), each.message.c_str());
  }
  return valid;
}

}  // namespace

sluice_schema *sluice_schema_compile(const json_t *schema, const json_t *documents, char *message, size_t size) {
  try {
    return compiled(schema, documents).release();
  } catch (const std::exception &error) {
    if (size > 0) std::snprintf(message, size, "%s", error.what());
  } catch (...) {
    if (size > 0) std::snprintf(message, size, "the schema cannot be compiled");
  }
  return nullptr;
}

bool sluice_schema_check(
    const sluice_schema *schema, const json_t *value, sluice_schema_report report, void *context) {
  try {
    return checked(*schema, value, report, context);
  } catch (const std::exception &error) {
    if (report != nullptr) report(context, "", error.what());
  } catch (...) {
    if (report != nullptr) report(context, "", "the check failed");
  }
  return false;
}

void sluice_schema_free(sluice_schema *schema) { delete schema; }
