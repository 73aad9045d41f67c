// Stands between libcurl and the program's callbacks for a response, if stages may refuse it: the program gets nothing
// of it before they have seen its head.
//
// Libcurl brings the heads of all hops. Which of them is the last one shows what comes next: a byte of the body, the end
// of the transfer, or the next hop.
#ifndef SLUICE_ATTACH_REPLY_H
#define SLUICE_ATTACH_REPLY_H
#include "CAttachABI.h"
#include "handle.h"

enum reply_state {
  /// No request waits for a response, or its response has not begun. What comes passes: a proxy's answer to CONNECT.
  REPLY_OPEN,
  /// The lines of an informational head pass.
  REPLY_INFORMATIONAL,
  /// The lines of a head are held.
  REPLY_HEAD,
  /// A whole head is held, and it is not known whether it is the last one.
  REPLY_WHOLE,
  /// The held lines go to the program.
  REPLY_GIVING,
  /// The program has the head; the rest passes.
  REPLY_PASSING,
};

/// The response of one transfer. All zero for one that is left alone.
struct reply {
  enum reply_state state;
  /// Libcurl has the callbacks of this library.
  bool is_wrapped;
  /// A request was sent whose head has not come.
  bool is_expected;
  /// The stages have seen the head, or cannot see it.
  bool is_seen;
  /// The program did not take the head after the end.
  bool is_failed;
  /// How many connections the transfer had made when the request was sent.
  long connections;
  /// The held lines.
  char *bytes;
  size_t length, room;
  /// How much of them the program has.
  size_t given;
  /// How much of the line that is being given has gone to the program's function for bodies.
  size_t given_as_body;
  /// How much of what libcurl brings next was taken before the program paused the transfer.
  size_t taken;
};

/// Puts the callbacks of this library in place of the program's.
///
/// @return false if libcurl does not take them
bool reply_wrap(struct reply *reply, const struct handle *handle);

/// Gives libcurl the program's callbacks again. Does nothing for a response that is not wrapped.
void reply_unwrap(const struct reply *reply, const struct handle *handle);

/// Whether libcurl has something else for an option than the program has set.
bool reply_replaces(const struct reply *reply, CURLoption option);

/// Notes that a request is about to be sent.
///
/// @return false if the stages have already seen the response, so that there must not be another one
bool reply_expect(struct reply *reply, const struct handle *handle);

/// Whether some whole head in the process is held, of which it is not known whether it is the last one. Costs one load.
bool reply_exists_whole(void);

/// Shows the stages a whole head, which was the last one because libcurl has ended the transfer, and gives it to the program.
void reply_settle_whole(struct reply *reply, struct handle *handle);

/// Like `reply_settle_whole`, when it is known how libcurl has ended the transfer, and also for a head without its end.
///
/// @return how the transfer ended, unless a stage refuses it
CURLcode reply_settle(struct reply *reply, struct handle *handle, CURLcode code);

void reply_free(struct reply *reply);

#endif
