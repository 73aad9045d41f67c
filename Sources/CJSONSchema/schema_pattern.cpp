#include "schema_pattern.hpp"

#include "CJSONSchema.h"
#include "json_value.hpp"

namespace sluice {

namespace {

/// UTF-8, already known to be valid, as code points: byte-wise matching would cut characters apart.
std::wstring code_points(std::string_view text) {
  std::wstring result;
  result.reserve(text.size());
  for (std::size_t index = 0; index < text.size();) {
    unsigned char lead = static_cast<unsigned char>(text[index]);
    std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    wchar_t point = length == 1 ? lead : lead & (0x7F >> length);
    for (std::size_t next = 1; next < length && index + next < text.size(); ++next) {
      point = point << 6 | (static_cast<unsigned char>(text[index + next]) & 0x3F);
    }
    result += point;
    index += length;
  }
  return result;
}

}  // namespace

void SchemaPatterns::add(std::string_view pattern) {
  std::string key(pattern);
  if (compiled_.count(key) != 0) return;
  if (pattern.size() > SLUICE_SCHEMA_PATTERN_LIMIT_BYTES) {
    throw SchemaError("a pattern of " + std::to_string(pattern.size()) + " bytes, the limit is " +
                      std::to_string(SLUICE_SCHEMA_PATTERN_LIMIT_BYTES));
  }
  // The polynomial matcher advances all alternatives together, so that nothing backtracks and the stack does not grow
  // with the text. The lazy prefix makes one pass of it a search.
  constexpr auto flags = std::regex_constants::ECMAScript | std::regex_constants::nosubs |
                         std::regex_constants::__polynomial;
  try {
    compiled_.emplace(std::move(key), std::wregex(L"[\\s\\S]*?(?:" + code_points(pattern) + L")", flags));
  } catch (const std::regex_error &error) {
    throw SchemaError("pattern \"" + std::string(pattern) + "\" is not supported: " + error.what());
  }
}

bool SchemaPatterns::matches(const std::string &pattern, std::string_view text) const {
  if (text.size() > SLUICE_SCHEMA_MATCHED_LIMIT_BYTES) {
    throw SchemaError("a text of " + std::to_string(text.size()) + " bytes is too long for a pattern, the limit is " +
                      std::to_string(SLUICE_SCHEMA_MATCHED_LIMIT_BYTES));
  }
  std::wstring points = code_points(text);
  return std::regex_search(points, compiled_.at(pattern), std::regex_constants::match_continuous);
}

}  // namespace sluice
