/// A test is a sentence and a function that checks it.
#ifndef TESTING_H
#define TESTING_H

#include <stdio.h>
#include <string.h>

extern int testing_failures;

/// Counts and prints a failed expectation, and continues.
#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      testing_failures++;                                                        \
      fprintf(stderr, "  %s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
    }                                                                            \
  } while (0)

/// Like EXPECT, but compares C strings, and prints both.
#define EXPECT_TEXT(found, expected)                                                                      \
  do {                                                                                                    \
    const char *found_ = (found), *expected_ = (expected);                                                \
    if (!found_ || strcmp(found_, expected_) != 0) {                                                      \
      testing_failures++;                                                                                 \
      fprintf(stderr, "  %s:%d: found <%s>, expected <%s>\n", __FILE__, __LINE__, found_ ? found_ : "nothing", \
              expected_);                                                                                 \
    }                                                                                                     \
  } while (0)

typedef struct promise {
  const char *sentence;
  void (*check)(void);
} promise;

/// Runs all tests, prints `SUBJECT: N passed, N failed`, and returns the exit status.
int keep_promises(const char *subject, const promise *promises, size_t count);

#endif
