// This program is linked statically, so that no library is loaded into it.
#include <stdio.h>

int main(void) {
  puts("hello");
  return 3;
}
