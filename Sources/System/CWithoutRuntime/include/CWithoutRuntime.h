// Nothing to call: a target that depends on this target links only the libraries that it uses.
