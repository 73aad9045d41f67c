/// Regular expressions of ECMA 262 over code points, matched without backtracking by `std::regex` of libstdc++.
#ifndef SLUICE_SCHEMA_PATTERN_H
#define SLUICE_SCHEMA_PATTERN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled pattern: immutable, so that any number of threads may match with it at the same time.
typedef struct sluice_pattern sluice_pattern;

/// Compiles a pattern of `length` code points. Back-references, `\p{…}` and patterns of more than 4096 states fail: the
/// result is NULL, and `message` holds the reason, cut at `size` bytes. Free with `sluice_pattern_free`. [any]
sluice_pattern *sluice_pattern_compile(const wchar_t *pattern, size_t length, char *message, size_t size);

/// Returns 1 if the pattern matches anywhere in the text, or 0 if it does not. Returns -1 if the search needs more than
/// `*comparisons` comparisons of characters, or if memory runs out. Subtracts the number of comparisons from
/// `*comparisons`. [any]
int sluice_pattern_matches(const sluice_pattern *pattern, const wchar_t *text, size_t length, size_t *comparisons);

/// Releases a pattern that no thread uses any more; NULL is allowed. [any]
void sluice_pattern_free(sluice_pattern *pattern);

#ifdef __cplusplus
}
#endif

#endif
