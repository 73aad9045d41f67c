// Calls a function that no library defines.
#include "../fixture.h"

extern void fixture_nobody_has_this(void);

static void destroy(void *instance) {
  (void)instance;
  fixture_nobody_has_this();
}

FIXTURE_PLUGIN(.create = fixture_create, .destroy = destroy, .extension = fixture_no_extension);
