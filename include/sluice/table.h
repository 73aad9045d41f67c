/// Initializers of tables, which are the same in C and C++.
#ifndef SLUICE_TABLE_H
#define SLUICE_TABLE_H

#include <stdint.h>

#include <sluice/abi.h>

/// The initializer of a table, or of another structure that begins with its size; at least one more member must be set.
/// The values are constants: no variable with automatic storage. In C++ the table is a constant expression, so that
/// nothing runs when the library is loaded.
///
///     static const sluice_interceptor interceptor =
///         SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, add_header), SLUICE_SET(on_cancel, forget));
#if defined(__cplusplus)
#define SLUICE_TABLE(type_, ...)                                \
  [] {                                                          \
    type_ sluice_table_{};                                      \
    sluice_table_.size = static_cast<uint32_t>(sizeof(type_)), __VA_ARGS__;  \
    return sluice_table_;                                       \
  }()
#else
#define SLUICE_TABLE(type_, ...) {.size = sizeof(type_), __VA_ARGS__}
#endif

/// One member of a SLUICE_TABLE. A program that is never compiled as C++ may write `.member = value` instead.
#if defined(__cplusplus)
#define SLUICE_SET(member_, ...) sluice_table_.member_ = (__VA_ARGS__)
#else
#define SLUICE_SET(member_, ...) .member_ = (__VA_ARGS__)
#endif

/// The initializer of a table of which only the size is set: for a variable that the host fills in, or whose members
/// are assigned later.
///
///     sluice_context context = SLUICE_SIZED(sluice_context);
#if defined(__cplusplus)
#define SLUICE_SIZED(type_)                          \
  [] {                                               \
    type_ sluice_table_{};                           \
    sluice_table_.size = static_cast<uint32_t>(sizeof(type_));    \
    return sluice_table_;                            \
  }()
#else
#define SLUICE_SIZED(type_) {.size = sizeof(type_)}
#endif

#endif
