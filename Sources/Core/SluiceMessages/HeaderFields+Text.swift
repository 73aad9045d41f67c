// Fields as text. Values that are not UTF-8 are shown with U+FFFD; the byte forms keep them exactly.
extension HeaderFields {
  /// Whether the field is `TE: trailers`: the one field of a connection that HTTP/2 has (RFC 9113 §8.2.2). Over HTTP/1.1
  /// it is not needed, because trailers are always taken.
  package func asksForTrailers(at index: Index) -> Bool {
    FieldSyntax.equals(buffer.span.extracting(nameRange(at: index)), "te")
      && FieldSyntax.equals(buffer.span.extracting(valueRange(at: index)), "trailers")
  }

  /// The value of the first field of that name; assigning replaces all fields of the name by one, `nil` removes them.
  /// Bytes that are not UTF-8 are shown as U+FFFD; ``subscript(bytes:)`` has them as they are.
  ///
  /// Assigning does not validate: the engine checks every message before sending it.
  public subscript(name: String) -> String? {
    get { firstIndex(named: name.utf8.span).map { value(at: $0) } }
    set {
      guard let newValue else { return remove(named: name.utf8.span) }
      set(name.utf8.span, to: newValue.utf8.span)
    }
  }

  /// The values of all fields of that name, in wire order. Bytes that are not UTF-8 are shown as U+FFFD.
  public subscript(values name: String) -> [String] {
    indices.filter { isName(at: $0, name.utf8.span) }.map { value(at: $0) }
  }

  /// The values of all fields of that name as the bytes of the wire, which need not be UTF-8, in wire order.
  public subscript(bytes name: String) -> [[UInt8]] {
    indices.filter { isName(at: $0, name.utf8.span) }.map { Array(buffer[valueRange(at: $0)]) }
  }

  /// Adds one more field at the end.
  public mutating func append(_ name: String, _ value: String) { append(name.utf8.span, value.utf8.span) }

  /// Adds one more field at the end, with marks.
  package mutating func append(_ name: String, _ value: String, marks: Marks) {
    append(name.utf8.span, value.utf8.span, marks: marks)
  }

  /// Removes every field of that name.
  public mutating func remove(_ name: String) { remove(named: name.utf8.span) }

  /// Whether there is a field of that name, compared case-insensitively.
  public func contains(_ name: String) -> Bool { firstIndex(named: name.utf8.span) != nil }

  /// The name as it was given; compare it case-insensitively.
  package func name(at index: Int) -> String { String(decoding: buffer[nameRange(at: index)], as: UTF8.self) }

  /// The value as text, with U+FFFD for bytes that are not UTF-8; `index` must be one of ``indices``.
  package func value(at index: Int) -> String { String(decoding: buffer[valueRange(at: index)], as: UTF8.self) }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
  /// Later fields of the same name are kept as further lines.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

extension HeaderFields: Sequence {
  /// A field as text; a name that occurs several times gives several elements.
  public typealias Element = (name: String, value: String)

  /// Iterates over the current fields in wire order; later changes have no effect on the iterator.
  public func makeIterator() -> AnyIterator<Element> {
    var next = 0
    return AnyIterator {
      guard next < count else { return nil }
      defer { next += 1 }
      return (name(at: next), value(at: next))
    }
  }
}

extension HeaderFields: Hashable {
  /// Equal if both have the same fields in the same order; names are compared case-insensitively, values byte by byte.
  /// Marks are ignored.
  public static func == (left: HeaderFields, right: HeaderFields) -> Bool {
    guard left.count == right.count else { return false }
    return left.indices.allSatisfy { index in
      left.isName(at: index, right.buffer.span.extracting(right.nameRange(at: index)))
        && left.buffer[left.valueRange(at: index)] == right.buffer[right.valueRange(at: index)]
    }
  }

  /// Combines what `==` compares: names in lower case and the bytes of the values, without marks.
  public func hash(into hasher: inout Hasher) {
    for index in indices {
      for byte in buffer[nameRange(at: index)] { hasher.combine(byte.asciiLowercased) }
      hasher.combine(buffer[valueRange(at: index)])
    }
  }
}

extension HeaderFields: CustomStringConvertible {
  /// One line for each field; the values of sensitive fields are omitted.
  public var description: String {
    indices.map { "\(name(at: $0)): \(marks(at: $0).contains(.sensitive) ? "REDACTED" : value(at: $0))" }
      .joined(separator: "\n")
  }
}

extension HeaderFields {
  /// The value of the first `Content-Length`; nil without one, and if it is not a number. Allocates nothing.
  package var contentLength: Int? {
    guard let index = firstIndex(named: "content-length".utf8.span) else { return nil }
    return FieldSyntax.number(buffer.span.extracting(valueRange(at: index)))
  }
}
