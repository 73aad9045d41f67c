// What the preloaded library, the host library and the command share: the table of functions of the host, the page that
// a running command shares with the programs under it, and the name of the variable that leads to both.
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
#define SLUICE_ATTACH_ABI 3u

/// The variable that switches the pipeline on in a program: `FD:WHEN_MISSING:FOLDER`. The descriptor has the first plan
/// (-1 for none); without the pipeline a transfer continues (`pass`) or fails (`fail`); the folder is that of the
/// command.
#define SLUICE_ATTACH_VARIABLE "SLUICE_ATTACH"
/// With a value other than 0 or nothing, the preloaded library does nothing.
#define SLUICE_ATTACH_OFF_VARIABLE "SLUICE_DISABLE"
/// In the folder of the command.
#define SLUICE_ATTACH_PAGE_NAME "page"
/// In the folder of the command, followed by the plan's number.
#define SLUICE_ATTACH_PLAN_PREFIX "plan-"
/// Beside the preloaded library.
#define SLUICE_ATTACH_HOST_NAME "libsluice-attach-host.so"
/// The function that the host library exports; see `sluice_attach_open`.
#define SLUICE_ATTACH_HOST_SYMBOL "sluice_attach_host"
#define SLUICE_ATTACH_PAGE_MAGIC "sluice-attach-1"
/// The first line of a plan is this, the plan's number in decimal, and a line feed.
#define SLUICE_ATTACH_PLAN_MAGIC "sluice-plan-1 "

// MARK: The page

/// What a program counts, over all of its processes. The command shows it.
enum sluice_attach_count {
  /// Transfers that went through the pipeline.
  SLUICE_ATTACH_COUNT_ATTACHED,
  /// Transfers of protocols other than HTTP.
  SLUICE_ATTACH_COUNT_OTHER_PROTOCOL,
  /// Transfers without the pipeline, because no plan could be read or used, or because memory ran out.
  SLUICE_ATTACH_COUNT_NO_PLAN,
  /// … because the host library is missing, was changed, or could not be opened.
  SLUICE_ATTACH_COUNT_NO_HOST,
  /// … because the thread had too little stack left.
  SLUICE_ATTACH_COUNT_SMALL_STACK,
  /// … because the program exports functions with the names of libjansson.
  SLUICE_ATTACH_COUNT_FOREIGN_JSON,
  /// … in a process that was forked while the host was in use.
  SLUICE_ATTACH_COUNT_FORKED,
  /// … because libcurl lacks a function that is needed.
  SLUICE_ATTACH_COUNT_OLD_CURL,
  /// … because the request could not be read, such as a URL that libcurl completes.
  SLUICE_ATTACH_COUNT_UNREADABLE,
  /// Transfers that a stage or a fault ended, or that were refused because they had no pipeline.
  SLUICE_ATTACH_COUNT_REFUSED,
  /// Hops after the first, which libcurl made by itself: redirects, authentication, requests that were sent again.
  SLUICE_ATTACH_COUNT_HOPS,
  /// Processes that opened the host library.
  SLUICE_ATTACH_COUNT_HOSTS,
  /// Transfers without the pipeline, because the process was ending and tracers had delivered their last events.
  SLUICE_ATTACH_COUNT_ENDING,
  SLUICE_ATTACH_COUNTS
};

/// Which file the host library is, as the command found it. Whoever writes to a file changes its `ctime`.
struct sluice_attach_file {
  uint64_t device, inode, size;
  int64_t mtime_seconds, ctime_seconds;
  uint32_t mtime_nanoseconds, ctime_nanoseconds;
};

/// The file `page` in the folder of the command, which all processes map. The command writes; processes count.
struct sluice_attach_page {
  char magic[16];
  uint32_t abi;
  uint32_t reserved;
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

/// Borrowed bytes; without a NUL at the end unless a comment says NUL-terminated.
struct sluice_attach_text {
  const char * bytes;
  size_t length;
};

enum sluice_attach_body {
  SLUICE_ATTACH_BODY_NONE,
  /// In memory: `content`.
  SLUICE_ATTACH_BODY_MEMORY,
  /// Libcurl asks the program for the body while it sends.
  SLUICE_ATTACH_BODY_STREAM,
};

/// What a program asks of a transfer. Borrowed for the call.
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
  /// 0 if there was none.
  int32_t status;
  /// Names and values alternately; none if the transfer wants no facts.
  const struct sluice_attach_text *fields;
  /// The number of pairs.
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
  /// Numeric address of the server or proxy of the last connection; empty if not known.
  struct sluice_attach_text address;
  /// Of the last response: 10, 11, 20 or 30; 0 if not known.
  int32_t http_version;
};

/// A hop whose connection is established and whose request was not sent yet.
struct sluice_attach_hop {
  /// Empty for the first hop, whose request the host knows.
  struct sluice_attach_text method;
  struct sluice_attach_text url;
  /// What the program asks for now: it may have set other headers since the previous hop.
  const struct sluice_attach_request *request;
  /// The response to the previous hop; NULL for the first hop.
  const struct sluice_attach_response *previous;
  /// As of now: of this hop, they contain the connection and nothing else. NULL if the transfer wants no facts.
  const struct sluice_attach_facts *facts;
};

/// The head of the response for the program, before the program gets any of that response.
struct sluice_attach_head {
  int32_t status;
  /// As libcurl gives them, each with its line end: the status line, the fields, and the empty line if it came.
  const struct sluice_attach_text *lines;
  size_t line_count;
  const struct sluice_attach_facts *facts;
};

/// How a transfer ended.
struct sluice_attach_end {
  /// The CURLcode.
  int32_t code;
  /// The message of libcurl or the program for it; empty for success.
  struct sluice_attach_text reason;
  const struct sluice_attach_response *response;
  /// The program dropped the transfer before its end.
  bool is_cancelled;
  /// NULL if the transfer wants no facts.
  const struct sluice_attach_facts *facts;
};

enum sluice_attach_outcome {
  /// Continue, with the changes.
  SLUICE_ATTACH_PROCEED,
  /// Leave the transfer unchanged; the host does not know it.
  SLUICE_ATTACH_PASS,
  /// End the transfer with an error. `message` says why. The host still wants the end.
  SLUICE_ATTACH_REFUSE,
  /// A request stage is suspended: call `go_on` to learn more, or `end` to give up.
  SLUICE_ATTACH_WAIT,
};

enum { SLUICE_ATTACH_NEW_LINES = 1, SLUICE_ATTACH_NEW_METHOD = 2, SLUICE_ATTACH_NEW_URL = 4, SLUICE_ATTACH_NEW_BODY = 8 };

/// What the host decides. The texts belong to the host and are valid until the next call about the transfer.
struct sluice_attach_answer {
  enum sluice_attach_outcome outcome;
  /// `SLUICE_ATTACH_NEW_…` bits.
  uint32_t changes;
  /// Each is NUL-terminated, and has the form of a line of CURLOPT_HTTPHEADER; from `receive`, of a line that libcurl
  /// gives to CURLOPT_HEADERFUNCTION.
  const struct sluice_attach_text *lines;
  size_t line_count;
  /// NUL-terminated.
  struct sluice_attach_text method, url;
  struct sluice_attach_text content;
  /// NUL-terminated.
  struct sluice_attach_text message;
  /// From `begin` and `go_on`: the program must get nothing of the response before `receive` has returned.
  bool holds_response;
  /// From `begin` and `go_on`: the transfer is observed, so that the host wants facts and whole responses.
  bool wants_facts;
};

/// The functions of the host library. Each may be called on any thread; calls about one transfer come one after the
/// other. No call keeps what it borrows.
struct sluice_attach_host {
  uint32_t abi;
  /// Creates the pipeline of the plan. Called once in a process, and again after a fork and for each newer plan.
  ///
  /// @param plan the bytes of the plan
  /// @return 0, or -1 if the pipeline could not be created; an earlier plan then stays in use
  int (*take_plan)(const char *plan, size_t length, uint64_t number);
  /// Begins a transfer: runs the request stages.
  ///
  /// @param blocks whether the call waits for a suspended stage, within its deadline; otherwise the answer is
  /// SLUICE_ATTACH_WAIT
  /// @return the transfer, for the other functions; NULL with SLUICE_ATTACH_PASS
  void *(*begin)(const struct sluice_attach_request *request, bool blocks, struct sluice_attach_answer *answer);
  /// After SLUICE_ATTACH_WAIT: whether the stage has been resumed, or its deadline is over. Called repeatedly.
  void (*go_on)(void *transfer, bool blocks, struct sluice_attach_answer *answer);
  /// Runs the issue stages of a hop.
  void (*issue)(void *transfer, const struct sluice_attach_hop *hop, struct sluice_attach_answer *answer);
  /// Runs the response stages, at most once for a transfer. Blocks while one of them is suspended, within its deadline.
  void (*receive)(void *transfer, const struct sluice_attach_head *head, struct sluice_attach_answer *answer);
  /// Ends a transfer, which must not be used afterwards. Blocks while a stage is suspended in `on_failure`.
  void (*end)(void *transfer, const struct sluice_attach_end *end);
  /// In a child after fork(): drops the pipeline, whose threads do not exist here.
  void (*forked)(void);
  /// Whether plugins may make exchanges, now or when they end.
  bool (*calls_out)(void);
  /// Called when the process ends: tracers deliver their last events. Takes a bounded time.
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
  /// NUL-terminated paths; empty for libcurl's default.
  struct sluice_attach_text authorities, certificate, key;
  bool verifies;
  int64_t limit_milliseconds;
  /// A longer body ends the exchange.
  size_t limit_bytes;
  /// Another thread can end the exchange with `sluice_attach_stop`.
  uint32_t *stop;
};

static inline void sluice_attach_stop(uint32_t *stop) { __atomic_store_n(stop, 1, __ATOMIC_RELEASE); }

static inline bool sluice_attach_is_stopped(const uint32_t *stop) { return __atomic_load_n(stop, __ATOMIC_ACQUIRE) != 0; }

/// How an exchange ended. The texts are valid until it is released.
struct sluice_attach_exchanged {
  /// The CURLcode.
  int32_t code;
  /// A message about it; empty for success.
  struct sluice_attach_text reason;
  struct sluice_attach_response response;
  /// As in `sluice_attach_facts`.
  int32_t http_version;
  struct sluice_attach_text content;
  /// Belongs to the preloaded library.
  void *memory;
};

/// What a process tells the host, and does for it. Borrowed for the call; the functions live as long as the process.
struct sluice_attach_program {
  uint32_t abi;
  /// NUL-terminated: the folder of the command.
  struct sluice_attach_text folder;
  /// Makes one exchange with a libcurl of the program, and blocks until it has ended. Follows no redirect, uses nothing
  /// that the program has set, and is not attached. Only threads of the host may call it, outside of `enter`.
  void (*exchange)(const struct sluice_attach_exchange *exchange, struct sluice_attach_exchanged *outcome);
  void (*release)(struct sluice_attach_exchanged *outcome);
  /// A thread of the host calls these around everything that it does, except waiting and exchanges. A fork() waits
  /// until the thread has left, because the thread does not exist in the child.
  void (*enter)(void);
  void (*leave)(void);
};

/// The type of `sluice_attach_host`. Returns NULL if the revisions differ. The table lives as long as the process.
typedef const struct sluice_attach_host *(*sluice_attach_open)(const struct sluice_attach_program *program);

#ifdef __cplusplus
}
#endif
#endif
