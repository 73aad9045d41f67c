extension Array where Element == UInt8 {
  /// Copies bytes that another value owns.
  package init(copying bytes: Span<UInt8>) {
    // Safe because the pointer does not leave the closure, in which the span is borrowed.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
  }

  package mutating func append(copying bytes: Span<UInt8>) {
    // There is no other bulk copy out of a span; copying byte by byte takes ten times as long for every header.
    // Safe because the pointer does not leave the closure, in which the span is borrowed.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}

extension Array where Element == UInt8 {
  /// Appends a text that is known when the program is compiled.
  package mutating func append(_ text: StaticString) {
    // Safe because the bytes of a StaticString live as long as the process.
    unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension Array where Element == UInt8 {
  /// Appends a number that is not negative. An interpolated string would cost much more.
  package mutating func append(decimal number: Int) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = digits.count
    var rest = number
    repeat {
      start -= 1
      digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    append(copying: digits.span.extracting(start..<digits.count))
  }
}

extension String {
  /// Copies UTF-8. Bytes that are not valid become U+FFFD.
  package init(copying bytes: Span<UInt8>) {
    // Safe because the pointer does not leave the closure, in which the span is borrowed.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Writes `name: value`, a NUL and a LF; the buffer must have room for them.
  @inline(__always)
  mutating func append(line name: Span<UInt8>, _ value: Span<UInt8>) {
    precondition(name.count + value.count + 4 <= freeCapacity)
    // Safe because there is room for everything, and because no pointer leaves its closure.
    unsafe withUnsafeMutableBufferPointer { target, count in
      guard var end = unsafe target.baseAddress?.advanced(by: count) else { return }
      unsafe end.append(name)
      unsafe end.initialize(to: UInt8(ascii: ":"))
      unsafe end.advanced(by: 1).initialize(to: UInt8(ascii: " "))
      unsafe end += 2
      unsafe end.append(value)
      unsafe end.initialize(to: 0)
      unsafe end.advanced(by: 1).initialize(to: 0x0A)
      count += name.count + value.count + 4
    }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Writes that many zero bytes; the buffer must have room for them.
  @inline(__always)
  mutating func append(zeros byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= freeCapacity)
    // Safe because there is room for the bytes, and because no pointer leaves its closure.
    unsafe withUnsafeMutableBufferPointer { target, count in
      unsafe target.baseAddress?.advanced(by: count).initialize(repeating: 0, count: byteCount)
      count += byteCount
    }
  }

  /// Writes the bytes; the buffer must have room for them.
  @inlinable @inline(__always)
  package mutating func append(copying bytes: Span<UInt8>) {
    precondition(bytes.count <= freeCapacity)
    // Safe because there is room for the bytes, and because no pointer leaves its closure.
    unsafe withUnsafeMutableBufferPointer { target, count in
      guard var end = unsafe target.baseAddress?.advanced(by: count) else { return }
      unsafe end.append(bytes)
      count += bytes.count
    }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Writes the bytes and CRLF; the buffer must have room for them.
  @inlinable @inline(__always)
  package mutating func append(lineOf bytes: Span<UInt8>) {
    precondition(bytes.count + 2 <= freeCapacity)
    // Safe because there is room for everything, and because no pointer leaves its closure.
    unsafe withUnsafeMutableBufferPointer { target, count in
      guard var end = unsafe target.baseAddress?.advanced(by: count) else { return }
      unsafe end.append(bytes)
      unsafe end.initialize(to: 0x0D)
      unsafe end.advanced(by: 1).initialize(to: 0x0A)
      count += bytes.count + 2
    }
  }
}

extension UnsafeMutablePointer<UInt8> {
  /// Writes the bytes and moves the pointer past them; there must be room for them.
  @inlinable @inline(__always)
  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      unsafe initialize(from: start, count: source.count)
    }
    unsafe self += bytes.count
  }
}
