#include "schema_uri.hpp"

#include <algorithm>
#include <cctype>

namespace sluice {

namespace {

/// The five parts of a URI reference (RFC 3986 appendix B); a part that is present keeps its delimiter.
struct URIParts {
  std::string scheme, authority, path, query, fragment;
};

std::string take_until(std::string_view &rest, std::string_view delimiters) {
  std::size_t end = std::min(rest.find_first_of(delimiters), rest.size());
  std::string part(rest.substr(0, end));
  rest.remove_prefix(end);
  return part;
}

URIParts parse(std::string_view uri) {
  URIParts parts;
  std::size_t colon = uri.find_first_of(":/?#");
  if (colon != std::string_view::npos && colon > 0 && uri[colon] == ':') {
    parts.scheme = uri.substr(0, colon + 1);
    uri.remove_prefix(colon + 1);
  }
  if (uri.substr(0, 2) == "//") {
    uri.remove_prefix(2);
    parts.authority = "//" + take_until(uri, "/?#");
  }
  parts.path = take_until(uri, "?#");
  parts.query = take_until(uri, "#");
  parts.fragment = uri;
  return parts;
}

/// RFC 3986 §5.2.4.
std::string without_dot_segments(std::string_view path) {
  bool is_absolute = path.substr(0, 1) == "/";
  std::vector<std::string> segments;
  while (!path.empty()) {
    if (path.front() == '/') path.remove_prefix(1);
    std::string segment = take_until(path, "/");
    bool is_last = path.empty();
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
      continue;
    }
    if (is_last) segments.emplace_back();
  }
  std::string result;
  for (std::size_t index = 0; index < segments.size(); ++index) {
    if (index > 0 || is_absolute) result += '/';
    result += segments[index];
  }
  return result;
}

std::string merged_path(const URIParts &base, const std::string &path) {
  if (!base.authority.empty() && base.path.empty()) return "/" + path;
  std::size_t slash = base.path.rfind('/');
  return slash == std::string::npos ? path : base.path.substr(0, slash + 1) + path;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(digit)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t index = 0; index < text.size(); ++index) {
    bool is_escape = text[index] == '%' && index + 2 < text.size() && hex_digit(text[index + 1]) >= 0 &&
                     hex_digit(text[index + 2]) >= 0;
    if (is_escape) {
      result += static_cast<char>(hex_digit(text[index + 1]) * 16 + hex_digit(text[index + 2]));
      index += 2;
    } else {
      result += text[index];
    }
  }
  return result;
}

void replace_all(std::string &text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  URIParts from = parse(base);
  URIParts to = parse(reference);
  if (!to.scheme.empty()) return std::string(reference);
  if (to.authority.empty()) {
    to.authority = from.authority;
    if (to.path.empty()) {
      to.path = from.path;
      if (to.query.empty()) to.query = from.query;
    } else {
      to.path = without_dot_segments(to.path.front() == '/' ? to.path : merged_path(from, to.path));
    }
  }
  return from.scheme + to.authority + to.path + to.query + to.fragment;
}

SplitURI split_uri(std::string_view uri) {
  std::size_t hash = uri.find('#');
  if (hash == std::string_view::npos) return {std::string(uri), ""};
  return {std::string(uri.substr(0, hash)), percent_decoded(uri.substr(hash + 1))};
}

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    std::string token = take_until(pointer, "/");
    replace_all(token, "~1", "/");
    replace_all(token, "~0", "~");
    tokens.push_back(token);
  }
  return tokens;
}

std::string pointer_token(std::string_view token) {
  std::string result(token);
  replace_all(result, "~", "~0");
  replace_all(result, "/", "~1");
  return result;
}

}  // namespace sluice
