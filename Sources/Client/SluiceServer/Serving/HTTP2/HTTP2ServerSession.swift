import CNGHTTP2
import SluiceHTTP1

/// Makes the sessions of nghttp2 for a server, and sets what this side allows and announces.
enum HTTP2ServerSession {
  /// Returns nil if there is no memory.
  static func make(_ limits: ServerLimits) -> OpaquePointer? {
    guard let callbacks = HTTP2ServerConnection.callbacks, let options else { return nil }
    var made: OpaquePointer?
    guard nghttp2_session_server_new2(&made, callbacks, nil, options) == 0, let session = made else { return nil }
    let values: [(nghttp2_settings_id, UInt32)] = [
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: limits.streams)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(windowBytes(limits))),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.messages.headBytes)),
      // Clients should not send the priorities that RFC 9113 has removed.
      (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
    ]
    let settings = values.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    guard nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0,
      nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, connectionWindowBytes) == 0
    else {
      nghttp2_session_del(session)
      return nil
    }
    return session
  }

  /// The bytes of a request's body that can arrive before the handler has taken them. Together with what the handler holds,
  /// they should not be much more than the limit of a buffer.
  static func windowBytes(_ limits: ServerLimits) -> Int { max(65_535, min(limits.bufferBytes, 1 << 20) / 2) }

  /// All streams share it. It is refilled at once, so that a stream whose handler is slow does not stop the others.
  private static let connectionWindowBytes: Int32 = 16 << 20

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
