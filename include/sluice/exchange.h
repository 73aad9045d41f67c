/// One attempt as a stage sees it: the request, the response if there is one, and the context.
///
/// A `sluice_exchange *` is a name, not an address: it is valid in the call to which it was passed, or until the posted
/// function that entered it returns, and only on that thread. If it is used later or on another thread, the function
/// returns SLUICE_STATUS_WRONG_THREAD or SLUICE_STATUS_STALE, counts a violation, and has no effect.
#ifndef SLUICE_EXCHANGE_H
#define SLUICE_EXCHANGE_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/context.h>
#include <sluice/status.h>
#include <sluice/text.h>
#include <sluice/token.h>
#include <sluice/verdict.h>

typedef struct sluice_exchange sluice_exchange;

/// A message of the exchange.
typedef uint32_t sluice_side;
enum { SLUICE_SIDE_REQUEST = 0, SLUICE_SIDE_RESPONSE = 1 };

/// Flags of `json`.
enum {
  /// A view of the document. Do not change it: changes are lost, or other stages see them.
  SLUICE_JSON_READ = 1,
  /// The document becomes authoritative: changes in place during this call go to the wire.
  SLUICE_JSON_WRITE = 2,
  /// The document includes the body. If the media type is JSON, the parsed body is in the member `json`. If such a body
  /// cannot be parsed, it is included as text, base64 or a file, and its member `unreadable` says why.
  SLUICE_JSON_BODY = 4
};

/// Marks of a header field.
enum {
  /// A secret: dropped when a redirect leaves the origin, redacted in logs, events, explanations, status and crash
  /// reports.
  SLUICE_HEADER_SENSITIVE = 1
};

/// The limits that a stage can lower.
typedef uint32_t sluice_limit;
enum {
  /// Nanoseconds from now to the end of the transaction.
  SLUICE_LIMIT_TIMEOUT_NS = 1,
  /// Nanoseconds that each attempt may take on the wire.
  SLUICE_LIMIT_ATTEMPT_TIMEOUT_NS = 2,
  /// Bytes of a response body from the server; a longer body fails with `response_too_large`.
  SLUICE_LIMIT_RESPONSE_BYTES = 3,
  /// Attempts of the transaction, including the first.
  SLUICE_LIMIT_ATTEMPTS = 4
};

/// A group of functions, for `may_call`.
typedef uint32_t sluice_call_kind;
enum {
  /// `header_set`, `header_add`, `header_remove` and `header_mark` of the request.
  SLUICE_CALL_WRITE_REQUEST_HEADERS = 1,
  /// `method_set` and `url_set`.
  SLUICE_CALL_WRITE_REQUEST_LINE = 2,
  /// `body_set` and `body_set_file` of the request.
  SLUICE_CALL_WRITE_REQUEST_BODY = 3,
  /// `status_set`, and the header functions of the response.
  SLUICE_CALL_WRITE_RESPONSE = 4,
  /// `body_set` and `body_set_file` of the response.
  SLUICE_CALL_WRITE_RESPONSE_BODY = 5,
  /// `json` for reading.
  SLUICE_CALL_READ_DOCUMENT = 6,
  /// `body_write` and `trailer_add`, for the side whose body is passed in this call. `trailer_add` of a request can
  /// still return SLUICE_STATUS_UNSUPPORTED.
  SLUICE_CALL_WRITE_PIECE = 7,
  SLUICE_CALL_RESPOND = 8,
  SLUICE_CALL_RETRY = 9,
  SLUICE_CALL_FAIL = 10,
  SLUICE_CALL_SUSPEND = 11,
  /// `limit_set`.
  SLUICE_CALL_SET_LIMIT = 12,
  /// `challenge_answer`.
  SLUICE_CALL_ANSWER_CHALLENGE = 14
};

/// Flags of `body_set_file`.
enum {
  /// The host removes the file when no message refers to it any more, and also if `body_set_file` fails.
  SLUICE_FILE_REMOVE = 1
};

/// The functions of an exchange. Call them on the thread on which the host called the stage with this exchange: the
/// thread of a loop or, for a BLOCKING stage, a thread of the pool. They all fail with SLUICE_STATUS_STALE for an
/// exchange that is over.
///
/// A text that a function of the exchange returns is borrowed until the call of the stage returns. It does not change
/// until then, even if the header, URL or body is replaced. Only a text inside a live document is released earlier,
/// when the stage itself changes that member with jansson.
///
///                 request headers   method, URL, request body   response
///   on_request    write             write                       after `respond`
///   on_issue      write, this hop   read                        none
///   on_redirect   read              read                        read
///   on_challenge  write, next hop   read                        read
///   on_response   read              read                        write
///   on_failure    read              read                        after `respond`
///   on_chunk …    read              read                        read
///   on_event      read              read                        read
///
/// Writing where only reading is allowed returns SLUICE_STATUS_REFUSED. A function that the host does not offer
/// (`sluice_host.features`) returns SLUICE_STATUS_UNSUPPORTED; `json` then returns NULL, `respond` and `retry` return
/// SLUICE_VERDICT_FAIL.
typedef struct sluice_exchange_api {
  uint32_t size;
  uint32_t reserved;

  /// Fills `context` as far as `context->size` reaches. [loop]
  sluice_status (*context)(sluice_exchange *exchange, sluice_context *context);

  /// Gets the first value of a header; returns SLUICE_STATUS_ABSENT without such a header. Names are case-insensitive.
  /// [loop]
  sluice_status (*header_get)(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text *value);
  /// Replaces all fields of the name by a single field without marks. Returns SLUICE_STATUS_INVALID for a bad name or
  /// value, and for a request's `Host` whose value is not a host with an optional port; returns SLUICE_STATUS_REFUSED
  /// for hop-by-hop fields. Returns SLUICE_STATUS_LIMIT if the message would then have more than 4096 fields, or fields
  /// of more than 256 KiB. [loop]
  sluice_status (*header_set)(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value);
  /// Adds one more field at the end. Fails like `header_set`, and with SLUICE_STATUS_INVALID for a second `Host` of a
  /// request. [loop]
  sluice_status (*header_add)(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value);
  /// Removes every field of the name; returns SLUICE_STATUS_ABSENT without such a field. [loop]
  sluice_status (*header_remove)(sluice_exchange *exchange, sluice_side side, sluice_text name);
  /// Gets the field at a position in wire order, where each line of a repeated name counts; returns
  /// SLUICE_STATUS_ABSENT past the end. `name` or `value` may be NULL. [loop]
  sluice_status (*header_at)(
      sluice_exchange *exchange, sluice_side side, size_t index, sluice_text *name, sluice_text *value);
  /// Marks all current fields of the name, so call it after `header_set`; returns SLUICE_STATUS_ABSENT without such a
  /// field. [loop]
  sluice_status (*header_mark)(sluice_exchange *exchange, sluice_side side, sluice_text name, uint32_t marks);

  /// The method of the request. [loop]
  sluice_status (*method_get)(sluice_exchange *exchange, sluice_text *method);
  /// Sets the method; only in on_request. Returns SLUICE_STATUS_INVALID if it is not a token, or is CONNECT. [loop]
  sluice_status (*method_set)(sluice_exchange *exchange, sluice_text method);
  /// The absolute URL; from on_issue on, the URL of the hop. [loop]
  sluice_status (*url_get)(sluice_exchange *exchange, sluice_text *url);
  /// Sets the URL; only in on_request. Returns SLUICE_STATUS_INVALID unless it is an absolute http or https URL, or an
  /// IRI (RFC 3987), which is converted. [loop]
  sluice_status (*url_set)(sluice_exchange *exchange, sluice_text url);
  /// The status of the response, 0 without a response. [loop]
  uint32_t (*status_get)(sluice_exchange *exchange);
  /// Sets the status, 200–999. Allowed in on_response, and in other callbacks after `respond`. [loop]
  sluice_status (*status_set)(sluice_exchange *exchange, uint32_t status);

  /// Gets the body in memory; returns SLUICE_STATUS_ABSENT without a body, SLUICE_STATUS_UNSUPPORTED if it is in a file
  /// or streamed. A response body is available only to stages that want it. [loop]
  sluice_status (*body_get)(sluice_exchange *exchange, sluice_side side, sluice_bytes *bytes);
  /// Replaces the body by a copy of the bytes; the engine adjusts the content length. [loop]
  sluice_status (*body_set)(sluice_exchange *exchange, sluice_side side, sluice_bytes bytes);
  /// Gets the path of the file with a large body. Only read the file. Returns SLUICE_STATUS_ABSENT if the body is in
  /// memory or streamed, or if there is no body. If `body_get` returns SLUICE_STATUS_UNSUPPORTED and this function
  /// SLUICE_STATUS_ABSENT, there is a streamed body that the stage cannot read. [loop]
  sluice_status (*body_file)(sluice_exchange *exchange, sluice_side side, sluice_text *path, uint64_t *bytes);
  /// Sends a copy of the bytes to the next stage; in on_chunk, these bytes take the place of the received piece.
  /// Allowed in on_chunk, on_trailer and on_end, and inside `enter` while on_chunk or on_end is suspended. The next
  /// piece comes only after these bytes were passed on. Returns SLUICE_STATUS_LIMIT if a single call writes more than
  /// the host can hold. [loop]
  sluice_status (*body_write)(sluice_exchange *exchange, sluice_side side, sluice_bytes bytes);

  /// Returns the live document of a message (docs/schema). Returns NULL in these cases: there is no such message; the
  /// call is on_issue; the flags contain WRITE, but this call may only read the message; the flags contain neither READ
  /// nor WRITE; an earlier stage has left an invalid document; memory has run out. The document is borrowed until the
  /// call returns: don't free it, and don't keep a reference beyond the call. Values inside it follow jansson's rules:
  /// a member is released when it is changed or removed, either by the stage or by one of the functions above. The
  /// transaction fails, with an error that names the stage, if the document is not valid when the call has returned,
  /// nests more than 2048 levels, or holds a number that is not finite. [loop]
  json_t *(*json)(sluice_exchange *exchange, sluice_side side, uint32_t flags);

  /// Keeps a pointer for this instance and transaction, in all attempts. `release` is called once, on the transaction's
  /// loop: at the end of the transaction or when another pointer is set, and always before the instance's `destroy`.
  /// `release` may be NULL. [loop]
  sluice_status (*data_set)(sluice_exchange *exchange, void *data, void (*release)(void *data));
  /// Returns the pointer that `data_set` has set, or NULL if none is set. [loop]
  void *(*data_get)(sluice_exchange *exchange);

  /// Sets an empty response with that status, which replaces any other response; fill it with the functions above.
  /// Returns what the stage should return: SLUICE_VERDICT_RESPOND, or SLUICE_VERDICT_FAIL if the status is not 200–999.
  /// [loop]
  sluice_verdict (*respond)(sluice_exchange *exchange, uint32_t status);
  /// Sets the error that the transaction ends with. `code` is a short word for programs (at most 64 characters of
  /// `[a-z0-9_]`), `message` is for people and is cut off after 4 KiB. Returns SLUICE_VERDICT_FAIL. [loop]
  sluice_verdict (*fail)(sluice_exchange *exchange, sluice_text code, sluice_text message);
  /// Asks for another attempt after a delay. Returns SLUICE_VERDICT_RETRY. [loop]
  sluice_verdict (*retry)(sluice_exchange *exchange, uint64_t delay_ns);
  /// Takes the token with which this call will be resumed, once; the stage must then return SLUICE_VERDICT_SUSPENDED.
  /// Returns SLUICE_STATUS_ALREADY if the call already has a token, and SLUICE_STATUS_LIMIT if too many calls are
  /// suspended. Returns SLUICE_STATUS_REFUSED where a call cannot be suspended: in on_issue, in a BLOCKING call, and
  /// for a tracer. [loop]
  sluice_status (*suspend)(sluice_exchange *exchange, sluice_token *token);

  /// Adds a trailer field after the body that is passed in this call. Allowed in on_chunk, on_trailer and on_end, and
  /// inside `enter` while on_chunk or on_end is suspended. Fails like `header_set`, and with SLUICE_STATUS_INVALID for
  /// a field that says where the message ends, where it goes or what its content is (RFC 9110 §6.5.1). If that side
  /// cannot have trailers, such as a request that libcurl sends, the field is not sent, and the result is
  /// SLUICE_STATUS_UNSUPPORTED, which is no violation. Returns SLUICE_STATUS_LIMIT if the body would then have more than
  /// 4096 trailers, or trailers of more than 256 KiB. [loop]
  sluice_status (*trailer_add)(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value);

  /// Gets the first value of a request header as the current hop has sent it, including the changes of issue stages.
  /// Returns SLUICE_STATUS_ABSENT without such a header, for a header that the transport adds itself (`Host`,
  /// `Content-Length`, …), and before the hop was issued. [loop]
  sluice_status (*issued_header_get)(sluice_exchange *exchange, sluice_text name, sluice_text *value);

  /// Makes a file the body, wherever `body_set` is allowed. The file is read when the body is sent or taken: do not
  /// change it until the transaction has ended. `path` is absolute. Returns SLUICE_STATUS_FAILED unless it names a
  /// regular file that can be read. [loop]
  sluice_status (*body_set_file)(sluice_exchange *exchange, sluice_side side, sluice_text path, uint32_t flags);
  /// Lowers a limit for this transaction, in on_request; a value above the current limit has no effect. Returns
  /// SLUICE_STATUS_INVALID for 0, and for an unknown limit. [loop]
  sluice_status (*limit_set)(sluice_exchange *exchange, sluice_limit limit, uint64_t value);

  /// Returns SLUICE_STATUS_OK if the functions of the group may be called now. Otherwise returns the status with which
  /// they would fail, whatever their arguments are: SLUICE_STATUS_REFUSED if this call does not allow them,
  /// SLUICE_STATUS_UNSUPPORTED if this host does not offer them. For SLUICE_CALL_SUSPEND, the status can also be
  /// SLUICE_STATUS_ALREADY or SLUICE_STATUS_LIMIT. For an unknown group the result is SLUICE_STATUS_UNSUPPORTED. Asking
  /// is not a violation, except for an exchange that is over. [loop]
  sluice_status (*may_call)(sluice_exchange *exchange, sluice_call_kind call);

  /// In on_challenge: answers the challenge with a user and a password, by Digest (RFC 7616) or Basic (RFC 7617),
  /// whichever the challenge asks for. Returns the verdict that the stage should return. It is SLUICE_VERDICT_RESPOND
  /// if the credentials header was set. It is SLUICE_VERDICT_CONTINUE if the challenge has another scheme, if the
  /// server has already refused these credentials in this attempt, or if the host cannot answer challenges. [loop]
  sluice_verdict (*challenge_answer)(sluice_exchange *exchange, sluice_text user, sluice_text password);
} sluice_exchange_api;
#define SLUICE_EXCHANGE_API_SIZE_1 248u

#endif
