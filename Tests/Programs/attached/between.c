// A library that needs libcurl, for a module that needs only this library.
int between(void);
int between(void) { return 0; }
