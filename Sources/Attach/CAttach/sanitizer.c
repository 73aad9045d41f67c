// The address sanitizer of gcc ends a program if another library is loaded before its own, as this one is. The command
// switches this check off in ASAN_OPTIONS, but a program can start another one with ASAN_OPTIONS of its own. Those
// options win over the ones here.
#include "sanitizer.h"

#include "CAttachABI.h"

/// Called by the sanitizer before it reads ASAN_OPTIONS, unless the program itself defines this function.
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void) { return "verify_asan_link_order=0"; }

/// Called by the thread sanitizer of gcc when it starts, unless the program itself defines this function.
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);

/// The thread sanitizer reports the order in which Swift's runtime takes its locks. A plugin can have a runtime of its
/// own.
const char *__tsan_default_suppressions(void) {
  return "deadlock:" SLUICE_ATTACH_HOST_NAME "\n"
         "deadlock:swift::\n";
}

// Functions of the sanitizers' runtimes; NULL in a program without them.
__attribute__((weak)) void __tsan_ignore_thread_begin(void);
__attribute__((weak)) void __tsan_ignore_thread_end(void);
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

void sanitizer_ignore(void) {
  if (__tsan_ignore_thread_begin && __tsan_ignore_thread_end) __tsan_ignore_thread_begin();
  if (__lsan_disable && __lsan_enable) __lsan_disable();
}

void sanitizer_heed(void) {
  if (__tsan_ignore_thread_begin && __tsan_ignore_thread_end) __tsan_ignore_thread_end();
  if (__lsan_disable && __lsan_enable) __lsan_enable();
}
