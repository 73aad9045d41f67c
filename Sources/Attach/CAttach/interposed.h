#ifndef SLUICE_ATTACH_INTERPOSED_H
#define SLUICE_ATTACH_INTERPOSED_H

/// Returns this library's own definition of a function of libcurl with that name, or NULL if it has none.
void *interposed_function(const char *name);

/// Returns this library's own definition of a function of the loader with that name, such as dlopen; otherwise NULL.
void *interposed_loader_function(const char *name);

/// Makes a module call the functions of this library if it was opened with RTLD_DEEPBIND by a name for which the loader
/// searched. Call it before a look-up in the module. Cheap in a process that has opened no such module.
void interposed_bind(void *module);

#endif
