// Holds a response back between libcurl and the program's callbacks if stages may refuse it: the program gets nothing
// of the response before the stages have seen its head.
//
// Libcurl delivers the heads of all hops. Only what libcurl delivers next shows whether a head is the last one: a byte
// of the body, the end of the transfer, or the head of the next hop.
#ifndef SLUICE_ATTACH_REPLY_H
#define SLUICE_ATTACH_REPLY_H
#include "CAttachABI.h"
#include "handle.h"

enum reply_state {
  /// No request waits for a response, or its response has not begun. Lines that come now, such as a proxy's answer to
  /// CONNECT, are passed to the program.
  REPLY_OPEN,
  /// The lines of an informational head are passed to the program.
  REPLY_INFORMATIONAL,
  /// The lines of a head are held.
  REPLY_HEAD,
  /// A whole head is held, and it is not known whether it is the last one.
  REPLY_WHOLE,
  /// The held lines are being given to the program.
  REPLY_GIVING,
  /// The program has the head. Everything that follows is passed to the program.
  REPLY_PASSING,
};

/// The response of one transfer. All members are zero if this library does not hold the response.
struct reply {
  enum reply_state state;
  /// Whether libcurl has the callbacks of this library instead of the program's.
  bool is_wrapped;
  /// Whether a request was sent whose response head has not arrived.
  bool is_expected;
  /// Whether the stages have seen the head, or can no longer see it.
  bool is_seen;
  /// Whether the program did not accept a head at a time at which libcurl could not learn it from a callback.
  bool is_failed;
  /// The number of connections that the transfer had made when the request was sent.
  long connections;
  /// The held lines.
  char *bytes;
  size_t length, room;
  /// How many bytes of the held lines the program has got.
  size_t given;
  /// How many bytes of the current line the program's function for bodies has got.
  size_t given_as_body;
  /// How many bytes of the current delivery were handled before the program paused the transfer. Libcurl delivers these
  /// bytes again.
  size_t taken;
};

/// Puts the callbacks of this library in place of the program's.
///
/// @return false if libcurl does not accept them
bool reply_wrap(struct reply *reply, const struct handle *handle);

/// Gives libcurl the program's callbacks again. Does nothing for a response that is not wrapped.
void reply_unwrap(const struct reply *reply, const struct handle *handle);

/// Whether an option has a value of this library in libcurl, in place of the program's value.
bool reply_replaces(const struct reply *reply, CURLoption option);

/// Notes that a request is about to be sent.
///
/// @return false if the stages have already seen the response, so that no further request may be sent
bool reply_expect(struct reply *reply, const struct handle *handle);

/// Gives a held head to the program before libcurl makes the request of another hop: the head was not the last one, and
/// the program may set options for this hop.
///
/// @return false if the program has ended the transfer
bool reply_give_before_hop(struct reply *reply, struct handle *handle);

/// Whether the process holds a whole head that may or may not be the last one. Costs one load.
bool reply_exists_whole(void);

/// Shows the held head to the stages and gives it to the program. Call it when libcurl has ended the transfer: the held
/// head is then the last one.
void reply_settle_whole(struct reply *reply, struct handle *handle);

/// Like `reply_settle_whole`, for a transfer whose result is known; also settles a head without its empty line.
///
/// @return how the transfer ended; if the response was refused, the transfer stores the refusal
CURLcode reply_settle(struct reply *reply, struct handle *handle, CURLcode code);

void reply_free(struct reply *reply);

#endif
