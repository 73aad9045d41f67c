// A target must have a source; this one is only for its flags.
typedef int static_runtime;
