// The interface of the preloaded library, the host library and the command: the table of functions of the host, the
// page that a running command shares with the programs under it, and the environment variable through which a program
// finds both.
//
// The two libraries are built together and are found in one folder. If their SLUICE_ATTACH_ABI differ, the host library
// is not used.
#ifndef SLUICE_ATTACH_ABI_H
#define SLUICE_ATTACH_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The revision of this header. Both libraries must have the same one.
#define SLUICE_ATTACH_ABI 6u

/// The environment variable that switches the pipeline on in a program: `PLAN,PAGE:WHEN_MISSING:FOLDER`. PLAN is the
/// descriptor of the first plan and PAGE that of the page; each can be -1, and `,PAGE` can be missing. WHEN_MISSING
/// is `pass` or `fail`: a transfer without the pipeline continues or fails. FOLDER is the folder of the command.
#define SLUICE_ATTACH_VARIABLE "SLUICE_ATTACH"
/// If this variable has a value other than 0 and is not empty, the preloaded library does nothing.
#define SLUICE_ATTACH_OFF_VARIABLE "SLUICE_DISABLE"
/// The name of the page's file in the folder of the command.
#define SLUICE_ATTACH_PAGE_NAME "page"
/// The name of a plan's file in the folder of the command is this prefix and the plan's number.
#define SLUICE_ATTACH_PLAN_PREFIX "plan-"
/// The file name of the host library, which is in the folder of the preloaded library.
#define SLUICE_ATTACH_HOST_NAME "libsluice-attach-host.so"
/// The function that the host library exports; see `sluice_attach_open`.
#define SLUICE_ATTACH_HOST_SYMBOL "sluice_attach_host"
#define SLUICE_ATTACH_PAGE_MAGIC "sluice-attach-1"
/// The first line of a plan is this text, the plan's number in decimal, and a line feed.
#define SLUICE_ATTACH_PLAN_MAGIC "sluice-plan-1 "

// MARK: The page

/// The counters that all processes of a program share. The command shows these counts.
enum sluice_attach_count {
  /// Transfers that went through the pipeline.
  SLUICE_ATTACH_COUNT_ATTACHED,
  /// Transfers of protocols other than HTTP.
  SLUICE_ATTACH_COUNT_OTHER_PROTOCOL,
  /// Transfers without the pipeline, because no plan could be read or used, or because memory ran out.
  SLUICE_ATTACH_COUNT_NO_PLAN,
  /// Transfers without the pipeline, because the host library is missing, was changed, or could not be opened.
  SLUICE_ATTACH_COUNT_NO_HOST,
  /// Transfers without the pipeline, because the thread had too little stack left, and there was no
  /// memory for another one.
  SLUICE_ATTACH_COUNT_SMALL_STACK,
  /// Transfers without the pipeline, because the program exports functions with names of libjansson's functions.
  SLUICE_ATTACH_COUNT_FOREIGN_JSON,
  /// Transfers without the pipeline, because the process was forked while the host was in use.
  SLUICE_ATTACH_COUNT_FORKED,
  /// Transfers without the pipeline, because libcurl lacks a function that is needed.
  SLUICE_ATTACH_COUNT_OLD_CURL,
  /// Transfers without the pipeline, because Sluice does not accept the URL or the request.
  SLUICE_ATTACH_COUNT_UNREADABLE,
  /// Transfers that a stage or a fault ended, or that were refused because they had no pipeline.
  SLUICE_ATTACH_COUNT_REFUSED,
  /// Hops after the first, which libcurl made by itself: redirects, authentication, requests that were sent again.
  SLUICE_ATTACH_COUNT_HOPS,
  /// Processes that opened the host library.
  SLUICE_ATTACH_COUNT_HOSTS,
  /// Transfers without the pipeline, because the process was ending and tracers had delivered their last events.
  SLUICE_ATTACH_COUNT_ENDING,
  /// Transfers without the pipeline, because the program has opened libcurl in another namespace of the loader.
  SLUICE_ATTACH_COUNT_NAMESPACE,
  /// Connections that the program has opened with libcurl and uses itself.
  SLUICE_ATTACH_COUNT_CONNECTION,
  /// Look-ups of a function that begins transfers, in more copies of libcurl than the preloaded library tells apart.
  SLUICE_ATTACH_COUNT_COPIES,
  SLUICE_ATTACH_COUNTS
};

/// Identifies the file of the host library that the command has checked. Whoever writes to this file changes its
/// `ctime`.
struct sluice_attach_file {
  uint64_t device, inode, size;
  int64_t mtime_seconds, ctime_seconds;
  uint32_t mtime_nanoseconds, ctime_nanoseconds;
};

/// The contents of the file `page` in the folder of the command, which all processes map. Processes only add to
/// `counts`; the command writes the other members.
struct sluice_attach_page {
  char magic[16];
  uint32_t abi;
  uint32_t reserved;
  /// The file itself, so that a program recognizes it by its descriptor.
  uint64_t device, inode;
  /// The number of the newest plan, from 1.
  uint64_t sequence;
  struct sluice_attach_file host;
  uint64_t counts[SLUICE_ATTACH_COUNTS];
};

static inline uint64_t sluice_attach_get_sequence(const struct sluice_attach_page *page) {
  return __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
}

static inline void sluice_attach_add(struct sluice_attach_page *page, enum sluice_attach_count count) {
  __atomic_fetch_add(&page->counts[count], 1, __ATOMIC_RELAXED);
}

// MARK: The host

/// Borrowed bytes. Unless a comment says "NUL-terminated", there is no NUL after the bytes.
struct sluice_attach_text {
  const char * bytes;
  size_t length;
};

enum sluice_attach_body {
  SLUICE_ATTACH_BODY_NONE,
  /// The body is in memory, in `content`.
  SLUICE_ATTACH_BODY_MEMORY,
  /// Libcurl asks the program for the body while it sends the request.
  SLUICE_ATTACH_BODY_STREAM,
};

/// The request that a program makes. Borrowed for the call.
struct sluice_attach_request {
  struct sluice_attach_text method;
  struct sluice_attach_text url;
  /// The lines of CURLOPT_HTTPHEADER as the program gave them.
  const struct sluice_attach_text *lines;
  size_t line_count;
  /// Lines that libcurl makes from other options, such as CURLOPT_USERAGENT. Credentials are left out of their values.
  const struct sluice_attach_text *made;
  size_t made_count;
  enum sluice_attach_body body;
  struct sluice_attach_text content;
};

/// A response that arrived. Borrowed for the call.
struct sluice_attach_response {
  /// 0 if no response arrived.
  int32_t status;
  /// Names and values alternately. Empty if the transfer wants no facts.
  const struct sluice_attach_text *fields;
  /// The number of pairs in `fields`.
  size_t field_count;
};

/// What libcurl knows about a transfer at the time of the call.
struct sluice_attach_facts {
  /// Microseconds from the beginning of a hop to the end of the name look-up, to the end of connecting, to the end of
  /// the TLS handshake, to the start of sending, and to the first byte. Each is the sum over all hops so far.
  int64_t name_lookup, connect, tls, pretransfer, first_byte;
  /// Microseconds since the beginning of the transfer.
  int64_t total;
  /// How many connections the transfer has opened.
  int64_t connections;
  int64_t sent_bytes, received_bytes;
  /// The numeric address of the server or proxy of the last connection; empty if it is not known.
  struct sluice_attach_text address;
  /// The HTTP version of the last response: 10, 11, 20 or 30; 0 if it is not known.
  int32_t http_version;
};

/// A hop whose connection is established and whose request was not sent yet.
struct sluice_attach_hop {
  /// `method` and `url` are empty for the first hop, because the host knows its request.
  struct sluice_attach_text method;
  struct sluice_attach_text url;
  /// The program's request as it is now: the program may have set other headers since the previous hop.
  const struct sluice_attach_request *request;
  /// The response to the previous hop; NULL for the first hop.
  const struct sluice_attach_response *previous;
  /// The facts until now. About this hop, they contain only its connection. NULL if the transfer wants no facts.
  const struct sluice_attach_facts *facts;
};

/// The head of the response for the program, before the program gets any of that response.
struct sluice_attach_head {
  int32_t status;
  /// The lines as libcurl gives them, each with its line end: the status line, the fields, and the empty line if it has
  /// arrived.
  const struct sluice_attach_text *lines;
  size_t line_count;
  const struct sluice_attach_facts *facts;
};

/// How a transfer ended.
struct sluice_attach_end {
  /// The CURLcode.
  int32_t code;
  /// The error message of libcurl or of the program; empty after a success.
  struct sluice_attach_text reason;
  const struct sluice_attach_response *response;
  /// Whether the program has dropped the transfer before its end.
  bool is_cancelled;
  /// NULL if the transfer wants no facts.
  const struct sluice_attach_facts *facts;
};

enum sluice_attach_outcome {
  /// Continue the transfer with the changes.
  SLUICE_ATTACH_PROCEED,
  /// Leave the transfer unchanged. The host has no object for it.
  SLUICE_ATTACH_PASS,
  /// End the transfer with an error. `message` says why. `end` must still be called.
  SLUICE_ATTACH_REFUSE,
  /// A request stage is suspended: call `go_on` to learn more, or `end` to give up.
  SLUICE_ATTACH_WAIT,
};

enum { SLUICE_ATTACH_NEW_LINES = 1, SLUICE_ATTACH_NEW_METHOD = 2, SLUICE_ATTACH_NEW_URL = 4, SLUICE_ATTACH_NEW_BODY = 8 };

/// The decision of the host. The texts belong to the host and are valid until the next call about the transfer.
struct sluice_attach_answer {
  enum sluice_attach_outcome outcome;
  /// `SLUICE_ATTACH_NEW_…` bits.
  uint32_t changes;
  /// Each line is NUL-terminated. It has the form of a line of CURLOPT_HTTPHEADER. If `receive` has set the lines, a
  /// line has the form in which libcurl gives it to CURLOPT_HEADERFUNCTION.
  const struct sluice_attach_text *lines;
  size_t line_count;
  /// NUL-terminated.
  struct sluice_attach_text method, url;
  struct sluice_attach_text content;
  /// NUL-terminated.
  struct sluice_attach_text message;
  /// Set by `begin` and `go_on`: whether the program must get nothing of the response before `receive` has returned.
  bool holds_response;
  /// Set by `begin` and `go_on`: whether the host wants facts and all fields of responses, for response stages, tracers
  /// or an explanation.
  bool wants_facts;
};

/// The functions of the host library. Each function may be called on any thread. Calls about one transfer must not
/// overlap. A function does not use borrowed memory after it has returned.
struct sluice_attach_host {
  uint32_t abi;
  /// Creates the pipeline of the plan. Called once in a process, and again after a fork and for each newer plan.
  ///
  /// @param plan the bytes of the plan
  /// @return 0, or -1 if the pipeline could not be created; an earlier plan then stays in use
  int (*take_plan)(const char *plan, size_t length, uint64_t number);
  /// Begins a transfer and runs the request stages.
  ///
  /// @param blocks whether the call waits for a suspended stage, within its deadline; otherwise the answer is
  /// SLUICE_ATTACH_WAIT
  /// @return the transfer, for the other functions; NULL with SLUICE_ATTACH_PASS
  void *(*begin)(const struct sluice_attach_request *request, bool blocks, struct sluice_attach_answer *answer);
  /// Continues a transfer after SLUICE_ATTACH_WAIT. The answer is again SLUICE_ATTACH_WAIT until the stage is resumed
  /// or its deadline is over.
  void (*go_on)(void *transfer, bool blocks, struct sluice_attach_answer *answer);
  /// Runs the issue stages of a hop.
  void (*issue)(void *transfer, const struct sluice_attach_hop *hop, struct sluice_attach_answer *answer);
  /// Runs the response stages, at most once for a transfer. Blocks while one of them is suspended, within its deadline.
  void (*receive)(void *transfer, const struct sluice_attach_head *head, struct sluice_attach_answer *answer);
  /// Ends a transfer, which must not be used afterwards. Blocks while a stage is suspended in `on_failure`.
  void (*end)(void *transfer, const struct sluice_attach_end *end);
  /// Drops the pipeline. Called in the child after fork(), where the pipeline's threads do not exist.
  void (*forked)(void);
  /// Whether plugins may make exchanges while they serve or when they are ended.
  bool (*calls_out)(void);
  /// Lets tracers deliver their last events. Called when the process ends. Takes a limited time.
  void (*close)(void);
};

// MARK: The program

/// An exchange that the host wants for a plugin. Borrowed for the call.
struct sluice_attach_exchange {
  /// NUL-terminated. The scheme of the URL is http or https.
  struct sluice_attach_text method, url;
  /// NUL-terminated, in the form of lines of CURLOPT_HTTPHEADER.
  const struct sluice_attach_text *lines;
  size_t line_count;
  /// If false, `content` is ignored.
  bool has_content;
  struct sluice_attach_text content;
  /// NUL-terminated paths. Libcurl's default is used for an empty path.
  struct sluice_attach_text authorities, certificate, key;
  bool verifies;
  int64_t limit_milliseconds;
  /// The exchange fails if the body of the response is longer.
  size_t limit_bytes;
  /// A flag with which another thread can end the exchange; see `sluice_attach_stop`.
  uint32_t *stop;
};

static inline void sluice_attach_stop(uint32_t *stop) { __atomic_store_n(stop, 1, __ATOMIC_RELEASE); }

static inline bool sluice_attach_is_stopped(const uint32_t *stop) { return __atomic_load_n(stop, __ATOMIC_ACQUIRE) != 0; }

/// How an exchange ended. The texts are valid until it is released.
struct sluice_attach_exchanged {
  /// The CURLcode.
  int32_t code;
  /// The error message; empty after a success.
  struct sluice_attach_text reason;
  struct sluice_attach_response response;
  /// As in `sluice_attach_facts`.
  int32_t http_version;
  struct sluice_attach_text content;
  /// For the preloaded library, which frees it in `release`.
  void *memory;
};

/// What the preloaded library offers to the host. The table is borrowed for the call; its functions exist as long as
/// the process.
struct sluice_attach_program {
  uint32_t abi;
  /// NUL-terminated: the folder of the command.
  struct sluice_attach_text folder;
  /// Makes one exchange with a libcurl of the program, and blocks until it has ended. The exchange follows no redirect,
  /// uses no settings of the program, and does not go through the pipeline. Only threads of the host may call this
  /// function.
  void (*exchange)(const struct sluice_attach_exchange *exchange, struct sluice_attach_exchanged *outcome);
  void (*release)(struct sluice_attach_exchanged *outcome);
  /// A thread of the host calls this function first. Until the thread ends, a fork() waits for it for a limited time,
  /// except while it pauses: the thread does not exist in the child, so a lock that it holds would stay locked there.
  /// This includes the locks of the Swift runtime.
  void (*begin_thread)(void);
  /// Any thread can call `pause` immediately before it waits. If the result is not 0, it must call `resume` immediately
  /// afterwards. The result is 0 on threads of the program.
  int (*pause)(void);
  void (*resume)(void);
};

/// The type of the exported function SLUICE_ATTACH_HOST_SYMBOL. Returns NULL if the revisions differ. The returned
/// table exists as long as the process.
typedef const struct sluice_attach_host *(*sluice_attach_open)(const struct sluice_attach_program *program);

#ifdef __cplusplus
}
#endif
#endif
