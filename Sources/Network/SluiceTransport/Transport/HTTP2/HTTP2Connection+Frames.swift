import CNGHTTP2
import SluiceHTTP1
import SluiceLoop

// Tells the flood guard what the server sends, and what it may send.
extension HTTP2Connection {
  /// Notes for the flood guard what the server sends.
  func note(_ head: HTTP2FrameHead) {
    let type = nghttp2_frame_type(UInt32(head.type))
    // A longer frame is an error, which nghttp2 finds.
    let byteCount = min(head.byteCount, Self.maximumFrameBytes)
    guard type == NGHTTP2_HEADERS || type == NGHTTP2_CONTINUATION || type == NGHTTP2_DATA else {
      return flood.noteUseless(byteCount: byteCount)
    }
    guard streams[head.stream] != nil else {
      return hasEnded(head.stream) ? flood.noteLate(byteCount: byteCount) : flood.noteUseless(byteCount: byteCount)
    }
    let isEnd = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    if type == NGHTTP2_DATA, head.byteCount == 0, !isEnd { return flood.noteUseless(byteCount: 0) }
    flood.noteUseful()
  }

  /// Whether the number is that of a stream which this side has opened and which has ended.
  func hasEnded(_ id: Int32) -> Bool {
    id & 1 == 1 && id < nghttp2_session_get_next_stream_id(session) && streams[id] == nil
  }

  /// Whether nghttp2 ends the connection because the server has broken a rule. It then still sends a GOAWAY.
  var hasBrokenRule: Bool {
    farewell == nil && nghttp2_session_check_request_allowed(session) == 0
      && nghttp2_session_get_next_stream_id(session) <= UInt32(Int32.max)
  }

  /// Called when a RST_STREAM frame of this side was sent.
  func didReset(_ id: Int32) {
    let window = nghttp2_session_get_stream_local_window_size(session, id)
    guard window >= 0 else { return }
    // Until the acknowledgement of this side's settings arrives, nghttp2 counts with the former window. The server may
    // use the new one already.
    let former = nghttp2_session_get_local_settings(session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE)
    let announced = Int(window) + Int(HTTP2Session.streamWindowBytes) - Int(former)
    flood.noteReset(windowBytes: announced, headBytes: transport.limits.headBytes, at: Loop.now)
  }
}
