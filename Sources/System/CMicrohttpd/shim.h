// libmicrohttpd, with wrappers for its variadic functions and macros: Swift can call neither.
#ifndef SLUICE_CMICROHTTPD_SHIM_H
#define SLUICE_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <stdarg.h>

/// What to call for each message of the library. The text of the message depends on the version and the language.
typedef struct {
  void (*function)(void *context);
  void *context;
} sluice_mhd_log;

static inline void sluice_mhd_write_log(void *log, const char *format, va_list arguments) {
  const sluice_mhd_log *target = (const sluice_mhd_log *)log;
  (void)format, (void)arguments;
  target->function(target->context);
}

typedef struct {
  int listening_socket;
  unsigned int connection_limit;
  unsigned int idle_timeout_seconds;
  size_t connection_memory_bytes;
  void *context;
  MHD_AccessHandlerCallback on_request;
  void *(*on_target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback on_completed;
  /// Called when a connection begins and ends; may be NULL.
  MHD_NotifyConnectionCallback on_connection;
  /// Called for each message of the library, such as the one before it answers a request itself. It must live as long
  /// as the daemon.
  sluice_mhd_log *log;
} sluice_mhd_options;

/// Creates a daemon without threads that accepts connections from a socket which is already listening. The daemon then
/// owns the socket. If the daemon cannot be created, returns NULL, and the caller keeps the socket.
///
/// The library's own polling threads are not used: up to 0.9.75 at least, a thread that takes a full batch of 128
/// events waits for the next event, without limit, before it serves them.
static inline struct MHD_Daemon *sluice_mhd_start(const sluice_mhd_options *options) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, options->on_request,
      options->context, MHD_OPTION_EXTERNAL_LOGGER, sluice_mhd_write_log, options->log,
      MHD_OPTION_LISTEN_SOCKET, options->listening_socket,
      MHD_OPTION_CONNECTION_LIMIT, options->connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, options->idle_timeout_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory_bytes,
      MHD_OPTION_URI_LOG_CALLBACK, options->on_target, options->context,
      MHD_OPTION_NOTIFY_COMPLETED, options->on_completed, options->context,
      MHD_OPTION_NOTIFY_CONNECTION, options->on_connection, options->context,
      MHD_OPTION_END);
}

/// Makes the library send the response without a transfer coding. If the response has no length, the library then closes
/// the connection after it.
static inline enum MHD_Result sluice_mhd_forbid_chunks(struct MHD_Response *response) {
  return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// The descriptor that is readable when the daemon has something to do; the daemon owns it. -1 if the daemon
/// has no such descriptor.
static inline int sluice_mhd_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

/// The number of open connections. Call it on the thread that runs the daemon.
static inline unsigned int sluice_mhd_connection_count(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? info->num_connections : 0;
}

/// The peer's address, owned by the connection; NULL when it is not known.
static inline const struct sockaddr *sluice_mhd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

/// The connection's socket, owned by the connection; -1 when it is not known.
static inline int sluice_mhd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static const uint64_t sluice_mhd_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t sluice_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
#endif
