import CMicrohttpd

/// A response in libmicrohttpd's form. It owns one reference to libmicrohttpd's object.
struct OutgoingResponse: ~Copyable {
  private let pointer: OpaquePointer?
  private let status: UInt32

  /// Converts a response. A response that cannot be sent, such as one with a CR in a header or a status out of range,
  /// becomes a 500 that says so.
  init(_ response: ServerResponse) {
    if (200...999).contains(response.status), let made = Self.make(response) {
      pointer = made
      status = UInt32(response.status)
    } else {
      pointer = Self.make(.text("the handler's response has an invalid status or header\n"))
      status = 500
    }
  }

  deinit { pointer.map { MHD_destroy_response($0) } }

  func queue(on connection: Connection) -> MHD_Result {
    guard let pointer else { return .NO }
    return MHD_queue_response(connection.pointer, status, pointer)
  }

  private static func make(_ response: ServerResponse) -> OpaquePointer? {
    guard let made = makeBody(response.body) else { return nil }
    for line in response.headers where !add(line, with: { MHD_add_response_header(made, $0, $1) }) {
      MHD_destroy_response(made)
      return nil
    }
    for line in response.trailers where !add(line, with: { MHD_add_response_footer(made, $0, $1) }) {
      MHD_destroy_response(made)
      return nil
    }
    return made
  }

  private static func add(
    _ line: HeaderLine, with add: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> MHD_Result
  ) -> Bool {
    guard !line.valueBytes.contains(0) else { return false }
    return (line.valueBytes + [0]).withUnsafeBytes { value in
      guard let start = value.baseAddress?.assumingMemoryBound(to: CChar.self) else { return false }
      return line.name.withCString { add($0, start) } == .YES
    }
  }

  private static func makeBody(_ body: ServerResponse.Body) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
      // The library copies the bytes before this call returns, and does not write to them.
      bytes.withUnsafeBytes {
        MHD_create_response_from_buffer(
          $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
      }
    case .generated(let pattern, let byteCount, let chunked):
      GeneratedBody(pattern: pattern, byteCount: byteCount).makeResponse(chunked: chunked)
    }
  }
}
