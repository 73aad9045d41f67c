// Is between libcurl and the program's callbacks if stages may refuse a response: the program gets nothing of the
// response before the stages have seen its head.
//
// Libcurl delivers the heads of all hops. Whether a head is the last one is known from what comes next: a byte of the
// body, the end of the transfer, or the next hop.
#ifndef SLUICE_ATTACH_REPLY_H
#define SLUICE_ATTACH_REPLY_H
#include "CAttachABI.h"
#include "handle.h"

enum reply_state {
  /// No request waits for a response, or its response has not begun. Lines pass, such as a proxy's answer to CONNECT.
  REPLY_OPEN,
  /// The lines of an informational head pass.
  REPLY_INFORMATIONAL,
  /// The lines of a head are held.
  REPLY_HEAD,
  /// A whole head is held, and it is not known whether it is the last one.
  REPLY_WHOLE,
  /// The held lines are being given to the program.
  REPLY_GIVING,
  /// The program has the head; the rest passes.
  REPLY_PASSING,
};

/// The response of one transfer. All zero for one that is left alone.
struct reply {
  enum reply_state state;
  /// Libcurl has the callbacks of this library instead of the program's.
  bool is_wrapped;
  /// A request was sent whose response head has not come.
  bool is_expected;
  /// The stages have seen the head, or cannot see it.
  bool is_seen;
  /// The program did not accept the head, which it got after libcurl had ended the transfer.
  bool is_failed;
  /// How many connections the transfer had made when the request was sent.
  long connections;
  /// The held lines.
  char *bytes;
  size_t length, room;
  /// How many bytes of the held lines the program has.
  size_t given;
  /// How many bytes of the current line the program's function for bodies has got.
  size_t given_as_body;
  /// How many bytes were taken before the program paused the transfer: libcurl delivers them again.
  size_t taken;
};

/// Puts the callbacks of this library in place of the program's.
///
/// @return false if libcurl does not accept them
bool reply_wrap(struct reply *reply, const struct handle *handle);

/// Gives libcurl the program's callbacks again. Does nothing for a response that is not wrapped.
void reply_unwrap(const struct reply *reply, const struct handle *handle);

/// Whether libcurl has something else for an option than the program has set.
bool reply_replaces(const struct reply *reply, CURLoption option);

/// Notes that a request is about to be sent.
///
/// @return false if the stages have already seen the response, so that there must not be another one
bool reply_expect(struct reply *reply, const struct handle *handle);

/// Whether the process holds a whole head that may or may not be the last one. Costs one load.
bool reply_exists_whole(void);

/// Shows the held head to the stages and gives it to the program, once libcurl has ended the transfer and it is thus
/// the last.
void reply_settle_whole(struct reply *reply, struct handle *handle);

/// Like `reply_settle_whole`, for a transfer whose result is known; also settles a head without its empty line.
///
/// @return how the transfer ended; a refusal is in the transfer
CURLcode reply_settle(struct reply *reply, struct handle *handle, CURLcode code);

void reply_free(struct reply *reply);

#endif
