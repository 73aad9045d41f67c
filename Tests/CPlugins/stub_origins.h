/// The host's table `sluice.origins/1` in memory. It knows no more forms of a host than the tests of a plugin need.
#ifndef STUB_ORIGINS_H
#define STUB_ORIGINS_H

/// The table if `id` is its id, otherwise NULL.
const void *stub_origins(const char *id);

#endif
