import SluiceMessages

/// Interprets the lines of an event stream (WHATWG HTML §9.2.6). Does no I/O.
struct EventStreamParser: Sendable {
  /// The maximum number of bytes in the data of an event.
  let maximumBytes: Int
  /// The values of the `data` lines, each with an LF after it.
  private var data: [UInt8] = []
  private var type = ""
  private var lastEventID = ""
  private var reconnectionTime: Duration?
  private var isFirstLine = true

  struct TooLarge: Error {}

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Takes a line without its line end.
  /// - Returns: the event if this line is empty and thus completes an event with a `data` line; otherwise nil.
  mutating func take(_ line: [UInt8]) throws(TooLarge) -> ServerSentEvent? {
    var line = line[...]
    // A byte order mark at the beginning of the stream is not part of it.
    if isFirstLine { line = line.withoutByteOrderMark }
    isFirstLine = false
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    guard colon != line.startIndex else { return nil }
    let name = line[..<(colon ?? line.endIndex)]
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    try take(String(decoding: name, as: UTF8.self), value)
    return nil
  }

  private mutating func take(_ name: String, _ value: ArraySlice<UInt8>) throws(TooLarge) {
    switch name {
    case "data":
      guard data.count + value.count <= maximumBytes else { throw TooLarge() }
      data += value
      data.append(0x0A)
    case "event": type = String(decoding: value, as: UTF8.self)
    case "id" where !value.contains(0): lastEventID = String(decoding: value, as: UTF8.self)
    case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
      // A number that is too large is ignored.
      if let milliseconds = Int32(String(decoding: value, as: UTF8.self)) {
        reconnectionTime = .milliseconds(Int(milliseconds))
      }
    default: break
    }
  }

  private mutating func dispatch() -> ServerSentEvent? {
    defer {
      data = []
      type = ""
    }
    // Only an event without a `data` line is dropped: the data of an empty line is an LF, which is removed.
    guard data.popLast() != nil else { return nil }
    return ServerSentEvent(
      type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), lastEventID: lastEventID,
      reconnectionTime: reconnectionTime)
  }
}
