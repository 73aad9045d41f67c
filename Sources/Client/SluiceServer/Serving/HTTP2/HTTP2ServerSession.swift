import CNGHTTP2
import SluiceHTTP1
import SluiceTransport

/// Makes the sessions of nghttp2 for a server, and sets what this side allows and announces.
enum HTTP2ServerSession {
  /// Returns nil if there is no memory.
  static func make(_ limits: ServerLimits) -> OpaquePointer? {
    guard let callbacks = HTTP2ServerConnection.callbacks, let options else { return nil }
    var made: OpaquePointer?
    guard nghttp2_session_server_new2(&made, callbacks, nil, options) == 0, let session = made else { return nil }
    return HTTP2Session.announce(
      [
        (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: limits.streams)),
        (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(windowBytes(limits))),
        (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.messages.headBytes)),
        // Clients should not send the priorities that RFC 9113 has removed.
        (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
      ], on: session)
  }

  /// The bytes of a request's body that can arrive before the handler has taken them. Together with what the handler holds,
  /// they should not be much more than the limit of a buffer.
  static func windowBytes(_ limits: ServerLimits) -> Int { max(65_535, min(limits.bufferBytes, 1 << 20) / 2) }

  /// The options are never changed after they are made. Windows are refilled when bytes are consumed.
  private nonisolated(unsafe) static let options: OpaquePointer? = {
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0 else { return nil }
    nghttp2_option_set_no_auto_window_update(options, 1)
    // The guard of this side decides, which counts only what the client has caused.
    nghttp2_option_set_stream_reset_rate_limit(options, 100_000, 10_000)
    nghttp2_option_set_no_closed_streams(options, 1)
    nghttp2_option_set_max_send_header_block_length(options, 1 << 20)
    return options
  }()
}
