// Defines a variable that exists only once in the whole process (STB_GNU_UNIQUE), like an inline variable of C++.
#include "../fixture.h"

__asm__(".data\n"
        ".globl fixture_unique\n"
        ".type fixture_unique, @gnu_unique_object\n"
        ".size fixture_unique, 4\n"
        "fixture_unique: .long 0\n"
        ".text\n");

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
