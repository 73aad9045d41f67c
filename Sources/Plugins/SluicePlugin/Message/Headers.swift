import CSluice

/// The headers of a message in the host. Names are case-insensitive.
///
/// A write that the host refuses fails the call as if its method had thrown. The host refuses, for instance, line
/// breaks, hop-by-hop fields, and writes to a message that this call can only read. ``set(_:to:)`` and
/// ``add(_:for:)-(String,_)`` throw at once instead.
public struct Headers: Sendable {
  let call: ExchangeCall
  let side: MessageSide

  /// The first value of a name; nil if there is no such field. Setting replaces all fields of the name by one; setting
  /// nil removes them.
  public subscript(name: String) -> String? {
    get { call.header(side, name).map { String(decoding: $0, as: UTF8.self) } }
    nonmutating set {
      if let newValue {
        call.attempt { () throws(StageFailure) in try set(name, to: newValue) }
      } else {
        remove(name)
      }
    }
  }

  /// The first value as bytes, for values that might not be UTF-8.
  public func bytes(_ name: String) -> [UInt8]? { call.header(side, name) }

  /// Every value of a name in wire order.
  public func values(_ name: String) -> [String] {
    filter { $0.name.utf8.elementsEqual(name.utf8, by: isSameLetter) }.map(\.value)
  }

  /// Replaces all fields of the name by one, without the mark of ``setSensitive(_:)``.
  /// - Throws: ``StageFailure`` if the host refuses the name, the value, or a write in this call, or if the message would
  ///   then have more than 4096 fields, or fields of more than 256 KiB.
  public func set(_ name: String, to value: String) throws(StageFailure) {
    try call.write("header \"\(name)\"") { api, exchange in
      withText(name) { name in withText(value) { api.pointee.header_set(exchange, side.rawValue, name, $0) } }
    }
  }

  /// Adds a field after the existing ones.
  /// - Throws: an error for the same reasons as ``set(_:to:)``.
  public func add(_ value: String, for name: String) throws(StageFailure) {
    try call.write("header \"\(name)\"") { api, exchange in
      withText(name) { name in withText(value) { api.pointee.header_add(exchange, side.rawValue, name, $0) } }
    }
  }

  /// Removes every field of the name; false if there was none.
  @discardableResult
  public func remove(_ name: String) -> Bool {
    var isRemoved = false
    call.attempt { () throws(StageFailure) in
      isRemoved = try call.write("header \"\(name)\"") { api, exchange in
        withText(name) { api.pointee.header_remove(exchange, side.rawValue, $0) }
      }
    }
    return isRemoved
  }

  /// Marks all current fields of the name as secret: they are dropped when a redirect leaves the origin, and redacted
  /// wherever they are shown.
  public func setSensitive(_ name: String) {
    call.attempt { () throws(StageFailure) in
      try call.write("header \"\(name)\"") { api, exchange in
        withText(name) { api.pointee.header_mark(exchange, side.rawValue, $0, UInt32(SLUICE_HEADER_SENSITIVE)) }
      }
    }
  }
}

extension Headers: Sequence {
  /// An iterator that reads one line from the host at each step. It is valid as long as the ``StageRequest`` of the
  /// same call.
  public struct Iterator: IteratorProtocol {
    let headers: Headers
    private var index = 0

    init(headers: Headers) { self.headers = headers }

    /// The next line in wire order; nil after the last one, and outside of the call.
    public mutating func next() -> (name: String, value: String)? {
      defer { index += 1 }
      return headers.call.header(headers.side, at: index)
    }
  }

  /// Each line in wire order; names as they were received.
  public func makeIterator() -> Iterator { Iterator(headers: self) }
}

/// Whether two ASCII letters are the same, ignoring case.
private func isSameLetter(_ left: UInt8, _ right: UInt8) -> Bool {
  func lower(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }
  return lower(left) == lower(right)
}
