package import CNGHTTP2
import SluiceHTTP1

/// Makes the sessions of nghttp2, and sets what this side allows and announces.
package enum HTTP2Session {
  /// The window of a stream: the maximum number of bytes that it can receive before its transfer has taken them.
  static let streamWindowBytes: Int32 = 1 << 20
  /// The window of the connection: the maximum number of bytes that the peer can send on all streams together before
  /// this side has received them. It is refilled at once, so that a stream that waits does not stop the others.
  private static let connectionWindowBytes: Int32 = 16 << 20
  /// The number of streams at a time until the server has named its limit.
  static let assumedStreams = 100
  /// The limit for the bytes of a request's fields.
  private static let maximumHeadBytes = 1 << 20
  /// The maximum number of CONTINUATION frames of a head. nghttp2's default of 8 allows only about 140 KiB.
  private static let maximumContinuations = 1024

  /// Returns nil if there is no memory.
  static func make(_ limits: MessageLimits) -> OpaquePointer? {
    guard let callbacks = HTTP2Connection.callbacks, let options else { return nil }
    var made: OpaquePointer?
    guard nghttp2_session_client_new2(&made, callbacks, nil, options) == 0, let session = made else { return nil }
    return announce(
      [
        (NGHTTP2_SETTINGS_ENABLE_PUSH, 0), (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(streamWindowBytes)),
        (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.headBytes)),
      ], on: session)
  }

  /// Announces the settings and the window of the connection on a new session, of a client or of a server. Deletes the
  /// session and returns nil if there is no memory.
  package static func announce(
    _ values: [(id: nghttp2_settings_id, value: UInt32)], on session: OpaquePointer
  ) -> OpaquePointer? {
    let settings = values.map { nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: $0.value) }
    guard nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count) == 0,
      nghttp2_session_set_local_window_size(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, connectionWindowBytes) == 0
    else {
      nghttp2_session_del(session)
      return nil
    }
    return session
  }

  /// The options of nghttp2. Windows are refilled when bytes are consumed, not when they arrive. The options are never
  /// changed after they are made.
  private nonisolated(unsafe) static let options: OpaquePointer? = {
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0 else { return nil }
    nghttp2_option_set_no_auto_window_update(options, 1)
    nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(assumedStreams))
    nghttp2_option_set_max_send_header_block_length(options, maximumHeadBytes)
    // RFC 9113 §8.2.1 forbids spaces at the ends of values, but servers send them. Browsers accept them too.
    nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(options, 1)
    // `ResponseLimits` limits the size of a head, but does not count empty frames. This limit bounds their number.
    nghttp2_option_set_max_continuations(options, maximumContinuations)
    return options
  }()
}
