#include <malloc.h>

#include "CTestKit.h"

size_t sluice_test_allocated_bytes(void) {
  struct mallinfo2 facts = mallinfo2();
  return facts.uordblks + facts.hblkhd;
}
