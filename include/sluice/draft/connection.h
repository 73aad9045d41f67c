/// The host's tables `sluice.connection/1` and `sluice.client/1`: facts about the connection of a hop, and about the
/// connection of the client that has sent the request.
///
/// Drafts: the tables may still change. Ask for `sluice.connection/1` in `create` or `activate`: a host collects the
/// facts of hops only after a plugin has asked for the table. From then on the events of tracers contain them too
/// (`sluice_event`). Queued delivery leaves out the certificate and cuts off texts that are longer than the host's limit.
#ifndef SLUICE_DRAFT_CONNECTION_H
#define SLUICE_DRAFT_CONNECTION_H

#include <stdint.h>

#include <sluice/exchange.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_CONNECTION_ID "sluice.connection/1"
#define SLUICE_CLIENT_ID "sluice.client/1"

/// A fact that may be unknown.
typedef uint32_t sluice_known;
enum { SLUICE_KNOWN_NOTHING = 0, SLUICE_KNOWN_NO = 1, SLUICE_KNOWN_YES = 2 };

/// Filled by `get`. The caller sets `size` to the size that it knows; members that the host does not know become zero.
/// Texts and bytes are borrowed until the call returns.
typedef struct sluice_connection_facts {
  uint32_t size;
  /// 10, 11, 20 or 30 for HTTP/1.0 to HTTP/3; for a hop 0 until the head of the response has arrived.
  uint32_t http_version;
  /// The id of the connection, unique in the process; 0 if unknown.
  uint64_t id;
  /// Whether an earlier request used the connection, or another request still uses it (HTTP/2).
  sluice_known is_reused;
  /// Whether the connection uses TLS.
  sluice_known is_secure;
  /// The IP address, without brackets, of the server or proxy that the connection of a hop goes to, or of the client.
  /// Empty if unknown, as over a Unix socket.
  sluice_text peer_address;
  /// The address of this side; for a client, the one to which it has connected.
  sluice_text local_address;
  /// 0 if unknown.
  uint32_t peer_port;
  uint32_t local_port;
  /// OpenSSL's names of the version and the cipher, such as `TLSv1.3` and `TLS_AES_256_GCM_SHA384`; empty without TLS,
  /// or if unknown.
  sluice_text tls_version;
  sluice_text tls_cipher;
  /// The certificate of the server or of the client as DER; empty without TLS, without a certificate, and if unknown.
  sluice_bytes certificate;
  /// The name that the client asked for in the handshake of TLS (RFC 6066 §3); empty if unknown.
  sluice_text server_name;
} sluice_connection_facts;
#define SLUICE_CONNECTION_FACTS_SIZE_1 112u

typedef struct sluice_connection {
  uint32_t size;
  uint32_t reserved;
  /// Gets the facts about the connection of the current hop. They are available from on_issue on: in that call, and in
  /// every later call and event. Returns SLUICE_STATUS_ABSENT before on_issue, for a hop that has no connection, and in
  /// a trial. [loop]
  sluice_status (*get)(sluice_exchange *exchange, sluice_connection_facts *facts);
} sluice_connection;
#define SLUICE_CONNECTION_SIZE_1 16u

typedef struct sluice_client {
  uint32_t size;
  uint32_t reserved;
  /// Gets the facts about the connection of the client that has sent the request of the transaction, in every call, and
  /// in events that have an exchange (not with queued delivery). Returns SLUICE_STATUS_ABSENT if no client has sent it, because the transaction was begun in this process, and
  /// in a trial and a replay. [loop]
  sluice_status (*get)(sluice_exchange *exchange, sluice_connection_facts *facts);
} sluice_client;
#define SLUICE_CLIENT_SIZE_1 16u

#endif
