import CNGHTTP2
import SluiceHTTP1
import SluiceMessages
import SluicePipeline
import SluiceTransport

// Handles what nghttp2 reports while it reads and writes. nghttp2 checks frames, states, windows and the pseudo fields
// of requests (RFC 9113 §8.1).
extension HTTP2ServerConnection {
  /// The callbacks are made once and never changed.
  nonisolated(unsafe) static let callbacks: OpaquePointer? = {
    var made: OpaquePointer?
    guard nghttp2_session_callbacks_new(&made) == 0, let callbacks = made else { return nil }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      return connection(context) {
        $0.fieldsAreOpen(true, frame.pointee.hd.stream_id)
        if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST { $0.begin(frame.pointee.hd.stream_id) }
      }
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameCount, value, valueCount, _, context in
      let name = UnsafeBufferPointer(start: name, count: nameCount)
      let value = UnsafeBufferPointer(start: value, count: valueCount)
      var isTaken = true
      let result = connection(context) { isTaken = $0.stream(frame)?.take(name.span, value.span) ?? true }
      return isTaken ? result : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, context in
      connection(context) { $0.stream(frame)?.refuseField() }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didReceive(frame.pointee.hd) }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
      connection(context) {
        $0.consumeConnection(count)
        $0.streams[id]?.take(UnsafeRawBufferPointer(start: bytes, count: count))
      }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, context in
      connection(context) { $0.didClose(id) }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didSend(frame.pointee.hd) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didNotSend(frame.pointee.hd) }
    }
    return callbacks
  }()

  static let readBody: nghttp2_data_source_read_callback = { _, id, buffer, count, flags, source, context in
    guard let pointer = source?.pointee.ptr, let flags else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let stream = Unmanaged<HTTP2ServerStream>.fromOpaque(pointer).takeUnretainedValue()
    switch stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
    case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .bytes(let count, let isLast, let trailers):
      if isLast { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
      if isLast, !trailers.isEmpty {
        flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
        connection(context) { $0.submit(trailers: trailers, id) }
      }
      return count
    }
  }

  /// Calls `body` with the connection, which nghttp2 passes to every callback as `context`.
  @discardableResult
  private static func connection(
    _ context: UnsafeMutableRawPointer?, _ body: (HTTP2ServerConnection) -> Void
  ) -> Int32 {
    guard let context else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    Unmanaged<HTTP2ServerConnection>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    return 0
  }

  private func stream(_ frame: UnsafePointer<nghttp2_frame>?) -> HTTP2ServerStream? {
    frame.flatMap { streams[$0.pointee.hd.stream_id] }
  }

  private func didReceive(_ head: nghttp2_frame_hd) {
    let isLast = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS:
      fieldsAreOpen(false, head.stream_id)
      streams[head.stream_id]?.didReceiveFields(isLast: isLast)
    case NGHTTP2_DATA where isLast: streams[head.stream_id]?.didReceiveEnd()
    case NGHTTP2_PING where head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0: didReceivePingAnswer()
    default: break
    }
  }

  private func didSend(_ head: nghttp2_frame_hd) {
    let type = nghttp2_frame_type(UInt32(head.type))
    if type == NGHTTP2_RST_STREAM { return didReset(head.stream_id) }
    guard type == NGHTTP2_HEADERS || type == NGHTTP2_DATA else { return }
    flood.noteUseful()
    guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let stream = streams[head.stream_id],
      !stream.isComplete
    else { return }
    // The response is complete, and the rest of the request is not needed (RFC 9113 §8.1).
    reset(stream, NGHTTP2_NO_ERROR)
  }

  /// The head or the trailers of a response could not be sent, because they are too large.
  private func didNotSend(_ head: nghttp2_frame_hd) {
    guard nghttp2_frame_type(UInt32(head.type)) == NGHTTP2_HEADERS, let stream = streams[head.stream_id] else { return }
    reset(stream, NGHTTP2_INTERNAL_ERROR)
  }

  // MARK: Floods

  /// Notes for the flood guard what the client sends.
  func note(_ head: HTTP2FrameHead) {
    let type = nghttp2_frame_type(UInt32(head.type))
    // A longer frame is an error, which nghttp2 finds.
    let byteCount = min(head.byteCount, Self.maximumFrameBytes)
    switch type {
    case NGHTTP2_HEADERS, NGHTTP2_CONTINUATION, NGHTTP2_DATA:
      guard streams[head.stream] != nil else {
        if hasEnded(head.stream) { return flood.noteLate(byteCount: byteCount) }
        if type != NGHTTP2_HEADERS || refusesStreams { flood.noteUseless(byteCount: byteCount) }
        return
      }
      let isEnd = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
      if type == NGHTTP2_DATA, head.byteCount == 0, !isEnd { flood.noteUseless(byteCount: 0) }
    case NGHTTP2_RST_STREAM where streams[head.stream] != nil: flood.noteAbort()
    default: flood.noteUseless(byteCount: byteCount)
    }
  }

  /// Whether the number is that of a request which has ended.
  private func hasEnded(_ id: Int32) -> Bool { id & 1 == 1 && id <= lastStream && streams[id] == nil }

  private var refusesStreams: Bool {
    if case .final = farewell { return true }
    return streams.count >= port.limits.streams
  }

  /// Called when a RST_STREAM frame of this side was sent.
  private func didReset(_ id: Int32) {
    // A client that makes this side reset its requests costs as much as one that resets them itself (CVE-2025-8671).
    if let stream = streams[id], !stream.isGivenUp { return flood.noteAbort() }
    let window = nghttp2_session_get_stream_local_window_size(session, id)
    guard window >= 0 else { return }
    flood.noteReset(
      windowBytes: max(Int(window), HTTP2ServerSession.windowBytes(port.limits)),
      headBytes: port.limits.messages.headBytes, at: now)
  }
}
