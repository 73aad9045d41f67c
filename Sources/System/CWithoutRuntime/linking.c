// A library in C that SwiftPM links needs libswiftCore.so, although nothing refers to it: the compiler driver always
// links that library. A process that maps such a library would lose milliseconds for a runtime that does nothing. The
// driver takes flags for the linker from this section, and puts them before its own libraries.
__asm__(
    ".section .swift1_autolink_entries,\"e\",%progbits\n"
    ".asciz \"-Wl,--as-needed\"\n"
    ".previous\n");

// A file must declare something.
typedef int sluice_nothing;
