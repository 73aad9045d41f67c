// Defines a function of Swift's runtime, like a library that was linked with -static-stdlib. With EXPORTED the function
// is exported, otherwise it is hidden. With MIXED, another library must define a second function.
#include "../fixture.h"

#ifdef EXPORTED
SLUICE_EXPORT
#else
__attribute__((visibility("hidden"), used))
#endif
void *swift_retain(void *object);
void *swift_retain(void *object) {
  return object;
}

#ifdef MIXED
void swift_release(void *object);
__attribute__((visibility("hidden"), used)) void fixture_release(void *object);
void fixture_release(void *object) {
  swift_release(object);
}
#endif

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
