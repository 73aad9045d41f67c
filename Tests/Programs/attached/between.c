// A library that needs libcurl. It stands between libcurl and a module that needs only this library.
int between(void);
int between(void) { return 0; }
