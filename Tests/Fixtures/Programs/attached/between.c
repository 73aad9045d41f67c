// A library that needs libcurl. A module that needs only this library gets libcurl through it.
int between(void);
int between(void) { return 0; }
