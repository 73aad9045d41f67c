/// The host's table `sluice.origins/1` in memory. It supports only the forms of a host that the plugin tests need.
#ifndef STUB_ORIGINS_H
#define STUB_ORIGINS_H

/// Returns the table if `id` is its id, otherwise NULL.
const void *stub_origins(const char *id);

#endif
