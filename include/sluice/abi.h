/// The version of the ABI, and what every header needs.
///
/// How to read the comments: the comment of each function ends with the thread on which the function is called.
///   [control]  one call at a time for each instance; may block
///   [loop]     an event loop's thread; calls for one instance come from several loops at once unless it is SERIAL;
///              must not block
///   [any]      any thread, at any time between create and the end of destroy
/// Arguments are borrowed until the call returns. Values that a plugin passes to the host are copied before the call
/// returns.
#ifndef SLUICE_ABI_H
#define SLUICE_ABI_H

#include <stddef.h>
#include <stdint.h>

/// The revision of the tables in these headers. New members are only added at the end of a table, which leaves this
/// number as it is; any other change of a table increases it.
#define SLUICE_ABI_VERSION 1u

/// SLUICE_EXPORT marks the one symbol that a plugin exports. Macros whose names end in an underscore are private to
/// these headers.
#if defined(__cplusplus)
#define SLUICE_EXPORT extern "C" __attribute__((visibility("default")))
#define SLUICE_BEGIN_DECLS extern "C" {
#define SLUICE_END_DECLS }
#define SLUICE_CONSTANT_ constexpr
#define SLUICE_ASSERT_(condition_, message_) static_assert(condition_, message_)
#else
#define SLUICE_EXPORT __attribute__((visibility("default")))
#define SLUICE_BEGIN_DECLS
#define SLUICE_END_DECLS
#define SLUICE_CONSTANT_ const
#define SLUICE_ASSERT_(condition_, message_) _Static_assert(condition_, message_)
#endif

/// Tables, and structures that can grow, begin with their size and grow at their end. SLUICE_…_SIZE_1 is the size in
/// revision 1. Whoever receives a table or structure refuses it if it is smaller, and may use every member within that
/// size without a check. SLUICE_HAS checks for members beyond that size. A structure that the caller provides and the
/// host fills in (`sluice_context`, `sluice_connection_facts`) may have any size of at least 4 bytes.

/// Whether a table contains a member: its size includes the member, and the member is not zero.
#define SLUICE_HAS(table, member)                                                                    \
  ((table) != NULL &&                                                                                \
   (table)->size >= (uint32_t)(offsetof(__typeof__(*(table)), member) + sizeof((table)->member)) && \
   (table)->member)

#endif
