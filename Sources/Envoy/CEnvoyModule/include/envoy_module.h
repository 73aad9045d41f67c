// A target must have a header.
