/// The host's table `sluice.origins/1` in memory. It knows no more forms of a host than the tests of a plugin need.
#ifndef STUB_ORIGINS_H
#define STUB_ORIGINS_H

/// The table for its id, NULL for every other.
const void *stub_origins(const char *id);

#endif
