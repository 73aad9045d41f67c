import CCurl
import SluiceMessages

/// The header lines of one request as libcurl's list, in nodes that are used again for the next.
///
/// The nodes point into the buffer of the fields, whose layout is libcurl's; only an empty value needs another
/// spelling.
struct HeaderList: ~Copyable {
  private var nodes: UnsafeMutablePointer<curl_slist>?
  private var capacity = 0
  private var count = 0
  /// Keeps the bytes alive that the nodes point to; never changed while they do.
  private var fields = HeaderFields()
  /// `Name;`, libcurl's way to send an empty value.
  private var emptyValues: [UInt8] = []

  init() {}

  deinit { nodes?.deallocate() }

  /// What libcurl would add by itself and must not.
  struct Suppressed: OptionSet {
    let rawValue: UInt8
    /// Waiting for leave to send costs a round trip, or a second where the server doesn't know it.
    static let expect = Suppressed(rawValue: 1)
    /// Else every POST claims to be a form.
    static let contentType = Suppressed(rawValue: 2)
  }

  /// Builds the list; it is valid until the next call.
  ///
  /// Left out are the fields that frame a message or belong to one connection (RFC 9110 §7.6.1) and `Content-Length`:
  /// libcurl writes its own.
  mutating func fill(
    _ headers: consuming HeaderFields, suppressing: Suppressed
  ) -> UnsafeMutablePointer<curl_slist>? {
    count = 0
    reserve(headers.count + 2)
    if !emptyValues.isEmpty { emptyValues.removeAll(keepingCapacity: true) }
    var suppressing = suppressing
    let hasEmptyValues = reserveEmptyValues(for: headers)
    // The storage stays where it is: it is not changed while `fields` keeps it.
    let base = UnsafeMutableRawPointer(mutating: headers.buffer.withUnsafeBytes { $0.baseAddress })
    for index in headers.indices {
      let name = headers.nameRange(at: index)
      let isLeftOut = Self.isLeftOut(headers.buffer.span.extracting(name), &suppressing)
      if isLeftOut, !headers.marks(at: index).contains(.forProxy) { continue }
      if hasEmptyValues, headers.valueRange(at: index).isEmpty {
        appendEmptyValue(headers, name)
      } else {
        append(base?.advanced(by: name.lowerBound))
      }
    }
    swap(&fields, &headers)
    if suppressing.contains(.expect) { append(Self.literal("Expect:")) }
    if suppressing.contains(.contentType) { append(Self.literal("Content-Type:")) }
    return count > 0 ? nodes : nil
  }

  /// Lets go of the fields; secrets among them don't outlive their request.
  mutating func clear() { fields = HeaderFields() }

  private static func literal(_ text: StaticString) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(mutating: text.utf8Start)
  }

  /// Whether the field is left out; a default that the caller's own field replaces is not suppressed any more.
  private static func isLeftOut(_ name: Span<UInt8>, _ suppressing: inout Suppressed) -> Bool {
    switch name.count {
    case 6 where !suppressing.isEmpty && FieldSyntax.equals(name, "expect"): suppressing.remove(.expect)
    case 12 where !suppressing.isEmpty && FieldSyntax.equals(name, "content-type"): suppressing.remove(.contentType)
    case 14: return FieldSyntax.equals(name, "content-length")
    default: return FieldSyntax.isHopByHop(name)
    }
    return false
  }

  private mutating func reserve(_ needed: Int) {
    guard needed > capacity else { return }
    nodes?.deallocate()
    capacity = max(16, needed * 2)
    nodes = .allocate(capacity: capacity)
  }

  /// All at once: the nodes point into the array, which must not move.
  private mutating func reserveEmptyValues(for headers: borrowing HeaderFields) -> Bool {
    var needed = 0
    for index in headers.indices where headers.valueRange(at: index).isEmpty {
      needed += headers.nameRange(at: index).count + 2
    }
    if needed > 0 { emptyValues.reserveCapacity(needed) }
    return needed > 0
  }

  private mutating func appendEmptyValue(_ headers: borrowing HeaderFields, _ name: Range<Int>) {
    let start = emptyValues.count
    emptyValues.append(contentsOf: headers.buffer[name])
    emptyValues.append(UInt8(ascii: ";"))
    emptyValues.append(0)
    append(emptyValues.withUnsafeMutableBytes { $0.baseAddress }?.advanced(by: start))
  }

  private mutating func append(_ text: UnsafeMutableRawPointer?) {
    guard let nodes, let text else { return }
    nodes[count] = curl_slist(data: text.assumingMemoryBound(to: CChar.self), next: nil)
    if count > 0 { nodes[count - 1].next = nodes + count }
    count += 1
  }
}
