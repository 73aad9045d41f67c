// A target must have a source file; this target exists only for its linker flags.
typedef int envoy_module;
