// Defines a function of Swift's runtime, as a library does that was linked with -static-stdlib.
#include "../fixture.h"

SLUICE_EXPORT void *swift_retain(void *object);
void *swift_retain(void *object) {
  return object;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
