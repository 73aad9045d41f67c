#include "CSymbolName.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

char *swift_demangle(const char *name, size_t length, char *output, size_t *output_size, uint32_t flags);
char *__cxa_demangle(const char *name, char *output, size_t *size, int *status);

char *sluice_demangle_swift(const char *symbol) { return swift_demangle(symbol, strlen(symbol), NULL, NULL, 0); }

char *sluice_demangle_cxx(const char *symbol) {
  int status = 0;
  char *name = __cxa_demangle(symbol, NULL, NULL, &status);
  return status == 0 ? name : NULL;
}
