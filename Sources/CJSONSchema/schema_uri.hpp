// URI references as `$id` and `$ref` use them (RFC 3986).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The target URI of `reference` against the absolute URI `base` (RFC 3986 §5.2), its fragment kept.
std::string resolve_uri(std::string_view base, std::string_view reference);

/// A URI without its fragment, and the fragment with percent-encoding undone.
struct SplitURI {
  std::string resource;
  std::string fragment;
};
SplitURI split_uri(std::string_view uri);

/// The tokens of a JSON Pointer, `~1` and `~0` undone (RFC 6901 §4).
std::vector<std::string> pointer_tokens(std::string_view pointer);

/// One token with `~` and `/` escaped.
std::string pointer_token(std::string_view token);

}  // namespace sluice
