// The C functions. They catch every C++ exception.
#include "schema_pattern.h"

// libstdc++ refuses an expression with more states than this. The limit bounds the stack: libstdc++ calls itself
// recursively for states that take no input.
#define _GLIBCXX_REGEX_STATE_LIMIT 4096

#include <cstdio>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>

struct sluice_pattern {
  std::wregex compiled;
};

namespace {

/// An iterator that counts the comparisons: the matcher reads a character once for each alternative that still matches
/// there.
struct CountedText {
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = wchar_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const wchar_t *;
  using reference = const wchar_t &;

  const wchar_t *at;
  size_t *left;

  reference operator*() const {
    if (*left == 0) throw std::length_error("too many comparisons");
    --*left;
    return *at;
  }
  CountedText &operator++() { return ++at, *this; }
  CountedText &operator--() { return --at, *this; }
  bool operator==(const CountedText &other) const { return at == other.at; }
  bool operator!=(const CountedText &other) const { return at != other.at; }
};

}  // namespace

sluice_pattern *sluice_pattern_compile(const wchar_t *pattern, size_t length, char *message, size_t size) {
  // The polynomial matcher advances all alternatives together, so that nothing backtracks and the stack does not grow
  // with the text. Because of the lazy prefix, a single pass of the matcher searches the whole text.
  constexpr auto flags = std::regex_constants::ECMAScript | std::regex_constants::nosubs |
                         std::regex_constants::__polynomial;
  try {
    return new sluice_pattern{std::wregex(L"[\\s\\S]*?(?:" + std::wstring(pattern, length) + L")", flags)};
  } catch (const std::exception &error) {
    std::snprintf(message, size, "%s", error.what());
    return nullptr;
  }
}

int sluice_pattern_matches(const sluice_pattern *pattern, const wchar_t *text, size_t length, size_t *comparisons) {
  CountedText start{text, comparisons};
  CountedText end{text + length, comparisons};
  try {
    return std::regex_search(start, end, pattern->compiled, std::regex_constants::match_continuous);
  } catch (...) {
    return -1;
  }
}

void sluice_pattern_free(sluice_pattern *pattern) { delete pattern; }
