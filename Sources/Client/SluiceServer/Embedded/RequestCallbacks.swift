import CMicrohttpd

/// The C functions that libmicrohttpd calls, on the worker that owns the connection.
///
/// Each request has an `IncomingRequest`, which is retained when the request's target is read and released when the
/// request has ended.
enum RequestCallbacks {
  typealias Target =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer?

  static let target: Target = { context, target, connection in
    let request = IncomingRequest(target: target.map { String(cString: $0) } ?? "")
    if let context, let connection {
      Unmanaged<RequestDispatcher>.fromOpaque(context).takeUnretainedValue().began(Connection(pointer: connection))
    }
    return Unmanaged.passRetained(request).toOpaque()
  }

  static let request: MHD_AccessHandlerCallback = {
    context, connection, _, method, version, bytes, byteCount, slot in
    guard let context, let connection, let byteCount, let state = slot?.pointee else { return .NO }
    let dispatcher = Unmanaged<RequestDispatcher>.fromOpaque(context).takeUnretainedValue()
    let request = Unmanaged<IncomingRequest>.fromOpaque(state).takeUnretainedValue()
    let piece = UnsafeRawBufferPointer(start: bytes, count: byteCount.pointee)
    byteCount.pointee = 0
    if request.stage == .new {
      request.method = method.map { String(cString: $0) } ?? ""
      request.version = version.map { String(cString: $0) } ?? ""
    }
    return dispatcher.advance(request, on: Connection(pointer: connection), with: piece)
  }

  static let message: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    guard let context else { return }
    Unmanaged<RequestDispatcher>.fromOpaque(context).takeUnretainedValue().refuseBrokenLengths()
  }

  static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
    guard let state = slot?.pointee else { return }
    Unmanaged<IncomingRequest>.fromOpaque(state).release()
    slot?.pointee = nil
    guard let context, let connection else { return }
    Unmanaged<RequestDispatcher>.fromOpaque(context).takeUnretainedValue().end(on: Connection(pointer: connection))
  }

  static let connection: MHD_NotifyConnectionCallback = { context, connection, _, event in
    guard let context, let connection else { return }
    let dispatcher = Unmanaged<RequestDispatcher>.fromOpaque(context).takeUnretainedValue()
    switch event {
    case .CONNECTION_NOTIFY_STARTED: dispatcher.opened(Connection(pointer: connection))
    default: dispatcher.closed(Connection(pointer: connection))
    }
  }
}
