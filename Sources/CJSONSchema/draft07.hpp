#pragma once

namespace sluice {

/// Where draft-07 keeps its own schema; `$ref` may name it.
inline constexpr const char *draft07_uri = "http://json-schema.org/draft-07/schema";

/// The schema of draft-07 schemas, as JSON text, reduced to what restricts a value.
extern const char *const draft07_text;

}  // namespace sluice
