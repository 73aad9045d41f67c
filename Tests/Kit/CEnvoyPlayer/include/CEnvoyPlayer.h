// Plays the part of Envoy 1.40 for the module: it has the functions that Envoy offers, and calls the module's hooks. A
// stream belongs to the worker on whose thread it was made.
#ifndef SLUICE_ENVOY_PLAYER_H
#define SLUICE_ENVOY_PLAYER_H
#include "CEnvoy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct player_worker;
struct player_stream;

struct player_worker *player_worker_new(void);
/// Must not be called before the streams of the worker are destroyed.
void player_worker_free(struct player_worker *);
/// Calls the hook `scheduled` for the commits that have arrived. Waits for one at most that long. Returns how many there
/// were.
int player_worker_turn(struct player_worker *, int milliseconds);

/// Reads a configuration of the filter. NULL if the module refuses it.
const void *player_configuration_new(const char *filter_name, const char *configuration);
void player_configuration_destroy(const void *configuration);

/// Makes a stream with one filter.
/// - downstream: for an upstream filter, the stream whose metadata it shares; otherwise NULL.
struct player_stream *player_stream_new(const void *configuration, struct player_worker *,
                                        struct player_stream *downstream);
/// Destroys the filter and the stream.
void player_stream_destroy(struct player_stream *);

/// Adds a field to a part of a message.
void player_stream_add(struct player_stream *, enum sluice_envoy_part, const char *name, const char *value);
/// The value of a field of that name, counted from 0; NULL if there is none.
const char *player_stream_get(const struct player_stream *, enum sluice_envoy_part, const char *name, size_t index);
/// Copies the fields of a part.
void player_stream_copy(struct player_stream *to, const struct player_stream *from, enum sluice_envoy_part);

/// Pass a part of a message to the filter. Return whether the message has got past it.
bool player_stream_headers(struct player_stream *, bool is_request, bool is_last);
bool player_stream_body(struct player_stream *, bool is_request, const char *bytes, size_t count, bool is_last);
bool player_stream_trailers(struct player_stream *, bool is_request);

/// Whether a message has got past the filter.
bool player_stream_has_passed(const struct player_stream *, bool is_request);
/// Whether a message, or a part of it, waits for the filter.
bool player_stream_is_stopped(const struct player_stream *, bool is_request);
/// What has got past the filter of a body, and how long it is.
const char *player_stream_passed_body(const struct player_stream *, bool is_request, size_t *count);
/// The status of the local reply of the module; 0 if it made none.
uint32_t player_stream_reply(const struct player_stream *);
/// The body of the local reply.
const char *player_stream_reply_body(const struct player_stream *, size_t *count);
/// The address of the upstream, once there is one.
void player_stream_set_upstream(struct player_stream *, const char *address);

/// The value of a counter or gauge, for all configurations together.
uint64_t player_metric(const char *name);

/// Takes the lines that were logged since the last call, as one text. The caller frees it.
char *player_take_log(void);

#ifdef __cplusplus
}
#endif
#endif
