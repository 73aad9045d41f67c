// Has the metadata and the undefined symbols of Swift code that needs libdispatch or, with SLEEPS, of code that calls
// Task.sleep.
#include "../fixture.h"

__attribute__((section("swift5_reflstr"), used)) static const char metadata[] = "Plugin";

#ifdef SLEEPS
extern void wait_for(void) __asm__("$ss5ClockP5sleep5until9tolerancey7InstantQz_8DurationQzSgtYaKFTj") __attribute__((weak));
#else
extern void wait_for(void) __asm__("dispatch_async_f") __attribute__((weak));
#endif
__attribute__((used)) static void (*const waits)(void) = wait_for;

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
