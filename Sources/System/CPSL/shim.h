// libpsl: the public suffix list.
#ifndef SLUICE_CPSL_SHIM_H
#define SLUICE_CPSL_SHIM_H
#include <libpsl.h>
#endif
