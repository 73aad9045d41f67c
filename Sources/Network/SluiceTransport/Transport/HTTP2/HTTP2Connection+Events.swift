import CNGHTTP2
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline

// Handles what nghttp2 reports while it reads and writes. nghttp2 checks frames, states, windows and the fields of a
// response (RFC 9113 §8.1). The limits are checked here.
extension HTTP2Connection {
  /// The callbacks are made once and never changed.
  nonisolated(unsafe) static let callbacks: OpaquePointer? = {
    var made: OpaquePointer?
    guard nghttp2_session_callbacks_new(&made) == 0, let callbacks = made else { return nil }
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      connection(context) { $0.stream(frame)?.beginFields(at: $0.transport.loop.turnBegan) }
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameCount, value, valueCount, _, context in
      connection(context, failing: NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE) {
        $0.take(
          UnsafeRawBufferPointer(start: name, count: nameCount),
          UnsafeRawBufferPointer(start: value, count: valueCount),
          $0.stream(frame))
      }
    }
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, context in
      connection(context, failing: NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE) { $0.refuseField($0.stream(frame)) }
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didReceive(frame.pointee) }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
      connection(context) {
        if let stream = $0.streams[id] {
          $0.take(UnsafeRawBufferPointer(start: bytes, count: count), stream)
        } else {
          $0.drop(count)
        }
      }
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
      connection(context) { $0.didClose(id, code) }
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didSend(frame.pointee.hd) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, code, context in
      guard let frame else { return 0 }
      return connection(context) { $0.didNotSend(frame.pointee.hd, code) }
    }
    return callbacks
  }()

  static let readBody: nghttp2_data_source_read_callback = { session, id, buffer, count, flags, source, context in
    guard let source, let pointer = source.pointee.ptr, let flags else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let stream = Unmanaged<HTTP2Stream>.fromOpaque(pointer).takeUnretainedValue()
    switch stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
    case .later: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .failed(let error):
      stream.failure = error
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    case .bytes(let count, let isLast, let trailers):
      if isLast { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
      if let trailers, !trailers.isEmpty {
        flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue)
        connection(context) { $0.submit(trailers, id) }
      }
      return count
    }
  }

  /// Calls `body` with the connection, which nghttp2 passes to every callback as `context`.
  @discardableResult
  private static func connection(_ context: UnsafeMutableRawPointer?, _ body: (HTTP2Connection) -> Void) -> Int32 {
    guard let context else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    Unmanaged<HTTP2Connection>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    return 0
  }

  /// - Parameter code: the error that is returned to nghttp2 if the body returns false.
  private static func connection(
    _ context: UnsafeMutableRawPointer?, failing code: nghttp2_error, _ body: (HTTP2Connection) -> Bool
  ) -> Int32 {
    guard let context else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    let isFine = Unmanaged<HTTP2Connection>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    return isFine ? 0 : code.rawValue
  }

  private func stream(_ frame: UnsafePointer<nghttp2_frame>?) -> HTTP2Stream? {
    frame.flatMap { streams[$0.pointee.hd.stream_id] }
  }

  // MARK: Receiving

  /// Takes a field of a head or of trailers. Returns false if the stream must end.
  private func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ stream: HTTP2Stream?) -> Bool {
    guard let stream, let transfer = stream.transfer else { return true }
    if name.first == UInt8(ascii: ":") {
      // nghttp2 has checked that it is `:status`, with three digits.
      stream.status = value.reduce(0) { $0 * 10 + Int($1) - 48 }
      guard stream.status < 100 else { return true }
      stream.failure = HTTP2Failure(transfer).broken("HTTP/2 stream \(stream.id) has a status below 100")
      return false
    }
    let limits = transport.limits
    stream.fieldBytes += name.count + value.count + 4
    let part = stream.hasHead ? "trailers" : "head"
    if stream.fieldBytes > limits.headBytes { return refuse(stream, .excess(ofBytes: limits, part: part)) }
    if stream.fields.count == limits.fields { return refuse(stream, .excess(ofFields: limits, part: part)) }
    let bytes = value.assumingMemoryBound(to: UInt8.self).span
    stream.fields.append(
      name.assumingMemoryBound(to: UInt8.self).span,
      bytes.extracting(FieldLine.trimmed(0..<bytes.count, in: bytes)))
    return true
  }

  private func refuseField(_ stream: HTTP2Stream?) -> Bool {
    guard let stream, let transfer = stream.transfer else { return true }
    stream.failure = HTTP2Failure(transfer).broken(
      "HTTP/2 stream \(stream.id) has a field whose name or value is not valid")
    return false
  }

  private func refuse(_ stream: HTTP2Stream, _ violation: MessageViolation) -> Bool {
    stream.failure = TransportFailure.invalid(violation, pool.origin)
    return false
  }

  private func didReceive(_ frame: nghttp2_frame) {
    let head = frame.hd
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS:
      guard let stream = streams[head.stream_id] else { return }
      didReceiveFields(stream, isLast: head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0)
    case NGHTTP2_DATA:
      guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0, let stream = streams[head.stream_id] else {
        return
      }
      end(stream)
    case NGHTTP2_SETTINGS where head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0:
      hasSettings = true
      hasNewRoom = true
      pool.lastStreamLimit = streamLimit
    case NGHTTP2_PING where head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0: endTry()
    case NGHTTP2_GOAWAY:
      farewell = HTTP2Farewell(frame.goaway)
      // The requests that the server may have processed are up to the retry policy, unless they are safe.
      if farewell?.demandsHTTP1 == true { _ = pool.downgrade() }
    default: return
    }
  }

  private func didReceiveFields(_ stream: HTTP2Stream, isLast: Bool) {
    guard let transfer = stream.transfer else { return }
    var fields = HeaderFields()
    swap(&fields, &stream.fields)
    transfer.times.receive(at: Loop.now)
    if stream.hasHead {
      stream.receivedTrailers = fields
    } else if stream.status < 200 {
      stream.informationalCount += 1
      guard stream.informationalCount <= transport.limits.informationalResponses else {
        transfer.fail(TransportFailure.invalid(.excess(ofInformational: transport.limits), pool.origin))
        return
      }
      transfer.didReceiveInformational(stream.status, fields)
      if transfer.isOver { return transfer.stop() }
      if stream.status == 100 { sendBody(of: transfer) }
    } else {
      stream.hasHead = true
      refusals.noteResponse()
      transfer.didReceiveHead(head(of: stream, fields, transfer, isLast), fields)
      if transfer.isOver { return transfer.stop() }
    }
    if isLast { end(stream) }
  }

  private func head(
    of stream: HTTP2Stream, _ fields: borrowing HeaderFields, _ transfer: HTTPTransfer, _ isLast: Bool
  ) -> HTTPTransfer.Head {
    var head = HTTPTransfer.Head(status: stream.status, version: .http2)
    if isLast || transfer.isHead || stream.status == 204 || stream.status == 304 {
      head.announcedBytes = 0
      return head
    }
    head.announcedBytes = fields["content-length"].flatMap { Int($0) }
    head.hasContentCoding = fields.contains("content-encoding")
    return head
  }

  // MARK: Streams

  private func didClose(_ id: Int32, _ code: UInt32) {
    guard let stream = streams[id], !stream.isClosed else { return }
    stream.isClosed = true
    stream.dropRequest()
    openStreams -= 1
    hasNewRoom = true
    // If the response is whole but the transfer has not taken all of it, the stream is kept until the transfer has.
    if stream.isWhole, stream.transfer != nil { return }
    streams[id] = nil
    guard let transfer = stream.transfer.take() else { return }
    if code == NGHTTP2_REFUSED_STREAM.rawValue, !stream.hasHead, stream.failure == nil { refusals.noteRefusal() }
    transfer.fail(stream.failure ?? error(of: stream, transfer, farewell?.code(instead: code) ?? code))
  }

  /// The error for a stream that ended with this code.
  private func error(of stream: HTTP2Stream, _ transfer: HTTPTransfer, _ code: UInt32) -> TransportError {
    if code == NGHTTP2_HTTP_1_1_REQUIRED.rawValue, !stream.hasHead, pool.downgrade() {
      return TransportFailure.downgraded(pool.origin)
    }
    return HTTP2Failure(transfer).reset(stream, code)
  }

  private func didSend(_ head: nghttp2_frame_hd) {
    if nghttp2_frame_type(UInt32(head.type)) == NGHTTP2_RST_STREAM { return didReset(head.stream_id) }
    guard let stream = streams[head.stream_id] else { return }
    let type = nghttp2_frame_type(UInt32(head.type))
    guard type == NGHTTP2_HEADERS || type == NGHTTP2_DATA else { return }
    stream.transfer?.times.sentBytes += head.length + 9
    stream.isHeadSent = true
    if type == NGHTTP2_DATA {
      flood.noteUseful()
      if let transfer = stream.transfer, transfer.options.tellsProgress { transfer.didSend(moreBytes: head.length) }
    }
    guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    stream.isRequestSent = true
    stream.dropRequest()
    if type == NGHTTP2_DATA { stream.transfer?.times.sentAt = Loop.now }
  }

  /// Called when the head of a request, or its trailers, could not be sent. There are three reasons: the request was
  /// withdrawn, the server takes no new streams, or nghttp2 cannot write the fields.
  private func didNotSend(_ head: nghttp2_frame_hd, _ code: Int32) {
    guard nghttp2_frame_type(UInt32(head.type)) == NGHTTP2_HEADERS, let stream = streams[head.stream_id],
      !stream.isRequestSent
    else { return }
    let isTooLarge = code == NGHTTP2_ERR_HEADER_COMP.rawValue || code == NGHTTP2_ERR_FRAME_SIZE_ERROR.rawValue
    if isTooLarge, stream.failure == nil {
      stream.failure = TransportFailure.headTooLarge(pool.origin, isBeforeSending: !stream.isHeadSent)
    }
    guard stream.isHeadSent else { return didClose(head.stream_id, UInt32(NGHTTP2_REFUSED_STREAM.rawValue)) }
    // The trailers could not be sent, but the server already has the rest of the request.
    reset(stream, NGHTTP2_INTERNAL_ERROR)
  }
}

extension HTTP2Stream {
  fileprivate func beginFields(at now: Instant) {
    transfer?.times.receive(at: now)
    fields = HeaderFields()
    fieldBytes = 0
    status = 0
  }
}
