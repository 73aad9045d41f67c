// The address sanitizer of gcc ends a program if another library is loaded before its own, as this one is. The command
// switches this check off in ASAN_OPTIONS, but a program can start another one with ASAN_OPTIONS of its own. Those
// options win over the ones here.

/// Called by the sanitizer before it reads ASAN_OPTIONS, unless the program itself defines this function.
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "verify_asan_link_order=0"; }
