// Linked statically, so that nothing is loaded into it.
#include <stdio.h>

int main(void) {
  puts("hello");
  return 3;
}
