/// The bytes of frames (RFC 9113 §4.1), valid or not.
package enum HTTP2Frame {
  package static let settings = frame(type: 4)

  /// A SETTINGS frame that allows this number of streams at a time.
  package static func settings(streams: UInt32) -> [UInt8] { frame(type: 4, [0, 3] + number(streams)) }
  /// A head with `:status: 200`, which ends the headers but not the stream.
  package static let head = frame(type: 1, flags: 4, stream: 1, [0x88])

  /// One frame that was received.
  package struct Received {
    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32
    package var payload: [UInt8]
  }

  /// Returns the frames at the beginning of the bytes; an incomplete frame at the end is left out.
  package static func parse(_ bytes: [UInt8]) -> [Received] {
    var frames: [Received] = []
    var rest = bytes[...]
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let count = number(head[..<3])
      guard rest.count >= 9 + count else { break }
      let payload = Array(rest.dropFirst(9).prefix(count))
      frames.append(
        Received(type: head[3], flags: head[4], stream: UInt32(number(head[5...]) & 0x7FFF_FFFF), payload: payload))
      rest = rest.dropFirst(9 + count)
    }
    return frames
  }

  package static func headers(_ block: [UInt8], stream: UInt32 = 1, endsStream: Bool = false) -> [UInt8] {
    frame(type: 1, flags: endsStream ? 5 : 4, stream: stream, block)
  }

  package static func data(_ text: String, stream: UInt32 = 1, endsStream: Bool = false) -> [UInt8] {
    frame(type: 0, flags: endsStream ? 1 : 0, stream: stream, Array(text.utf8))
  }

  /// A whole response with status 200.
  package static func answer(_ text: String, stream: UInt32 = 1) -> [UInt8] {
    headers([0x88], stream: stream) + data(text, stream: stream, endsStream: true)
  }

  /// RST_STREAM.
  package static func reset(_ code: UInt32) -> [UInt8] { frame(type: 3, stream: 1, number(code)) }

  package static func goAway(lastStream: UInt32, _ code: UInt32) -> [UInt8] {
    frame(type: 7, number(lastStream) + number(code))
  }

  /// - Parameter count: the length in the frame's head; by default the length of the payload.
  package static func frame(
    type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, count: UInt32? = nil, _ payload: [UInt8] = []
  ) -> [UInt8] {
    number(count ?? UInt32(payload.count)).dropFirst() + [type, flags] + number(stream) + payload
  }

  /// A field in HPACK without compression (RFC 7541 §6.2.2).
  package static func field(_ name: String, _ value: String) -> [UInt8] {
    [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
  }
}
