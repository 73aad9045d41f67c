// Nothing to call: a target that depends on this one links only what it uses.
