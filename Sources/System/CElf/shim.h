// libelf.
#ifndef SLUICE_CELF_SHIM_H
#define SLUICE_CELF_SHIM_H
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#endif
