// What the sanitizers of gcc and clang must know about this library.
#ifndef SLUICE_ATTACH_SANITIZER_H
#define SLUICE_ATTACH_SANITIZER_H

/// From here on, until `sanitizer_heed`, sanitizers ignore what this thread does. Calls can be nested.
///
/// The thread sanitizer does not see the atomic accesses of the host and the plugins, which are not instrumented, but
/// only their calls of libc, such as memcmp. It would take two such calls for a race. It still notes locks. The leak
/// sanitizer does not report memory that is allocated here: in a child of fork(), memory of the host's threads has no
/// owner.
void sanitizer_ignore(void);
void sanitizer_heed(void);

#endif
