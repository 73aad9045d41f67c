import CMicrohttpd

/// A response in libmicrohttpd's form. It owns one reference to libmicrohttpd's object.
struct OutgoingResponse: ~Copyable {
  private let pointer: OpaquePointer?
  private let status: UInt32

  /// Converts a response. A response that cannot be sent, such as one with a CR in a header or a status out of range,
  /// becomes a 500 that says so.
  /// - Parameter isHead: whether it is the response to a request with the method HEAD.
  init(_ response: ServerResponse, isHead: Bool) {
    if (200...999).contains(response.status), let made = Self.make(response, isHead: isHead) {
      pointer = made
      status = UInt32(response.status)
    } else {
      pointer = Self.make(.text("the handler's response has an invalid status or header\n"), isHead: isHead)
      status = 500
    }
  }

  deinit { pointer.map { MHD_destroy_response($0) } }

  func queue(on connection: Connection) -> MHD_Result {
    guard let pointer else { return .NO }
    return MHD_queue_response(connection.pointer, status, pointer)
  }

  private static func make(_ response: ServerResponse, isHead: Bool) -> OpaquePointer? {
    guard let made = makeBody(response.body) else { return nil }
    // libmicrohttpd 0.9.75 ends the head with the last chunk of a body, which a response to HEAD does not have (RFC 9112
    // §6.3). Without a coding, it sends neither a length nor a chunk.
    if isHead, case .generated(_, _, chunked: true) = response.body, sluice_mhd_forbid_chunks(made) != .YES {
      MHD_destroy_response(made)
      return nil
    }
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
    // libmicrohttpd refuses an empty value. A blank is the same: blanks around a value do not belong to it (RFC 9112
    // §5.1).
    return ((line.valueBytes.isEmpty ? [0x20] : line.valueBytes) + [0]).withUnsafeBytes { value in
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
