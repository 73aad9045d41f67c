#ifndef SLUICE_CIDN2_SHIM_H
#define SLUICE_CIDN2_SHIM_H
#include <idn2.h>
#endif
