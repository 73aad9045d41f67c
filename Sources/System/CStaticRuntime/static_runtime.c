// A target must have a source file; this target exists only for its linker flags.
typedef int static_runtime;
