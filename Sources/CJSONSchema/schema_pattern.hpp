// The regular expressions of a schema, compiled once, matched in bounded time and stack.
#pragma once

// libstdc++ refuses an expression with more states than this; the walk over states without input is recursive.
#ifndef _GLIBCXX_REGEX_STATE_LIMIT
#define _GLIBCXX_REGEX_STATE_LIMIT 4096
#endif

#include <regex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice {

class SchemaPatterns {
 public:
  /// Compiles a pattern (ECMA 262, code points); throws `SchemaError` naming it when it is malformed or over a limit.
  void add(std::string_view pattern);

  /// Whether the pattern, which was added before, matches anywhere in the text.
  bool matches(const std::string &pattern, std::string_view text) const;

 private:
  std::unordered_map<std::string, std::wregex> compiled_;
};

}  // namespace sluice
