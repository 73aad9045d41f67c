/// The content of the AWS X-Ray header: `Root=1-<8 digits>-<24 digits>;Parent=<16 digits>;Sampled=<0, 1 or ?>`.
enum XRay {
  static let header = "X-Amzn-Trace-Id"

  /// Reads the value of the header. Parts that load balancers and others add (`Self`, `Lineage`) are ignored.
  static func trace(_ text: Span<UInt8>) throws(InvalidContext) -> RemoteTrace {
    let (root, parent, sampled) = try fields(text)
    guard let root else { throw .xray("there is no Root") }
    let traceID = try traceID(text, root)
    guard let parent else { throw .xray("there is no Parent") }
    guard parent.count == 16, let spanID = Hexadecimal.number(text, parent) else {
      throw .xray("Parent is not 16 lower-case hexadecimal digits")
    }
    guard spanID != 0 else { throw .xray("Parent is zero") }
    return RemoteTrace(traceID: traceID, spanID: spanID, sampling: try sampling(text, sampled))
  }

  private typealias Fields = (root: Range<Int>?, parent: Range<Int>?, sampled: Range<Int>?)

  private static func fields(_ text: Span<UInt8>) throws(InvalidContext) -> Fields {
    var fields: Fields = (nil, nil, nil)
    var position = 0
    while let field = ListSyntax.nextMember(text, &position, separator: UInt8(ascii: ";")) {
      var equals = field.lowerBound
      while equals < field.upperBound, text[equals] != UInt8(ascii: "=") { equals += 1 }
      guard equals < field.upperBound else { continue }
      let key = text.extracting(ListSyntax.trimmed(text, field.lowerBound..<equals))
      let value = ListSyntax.trimmed(text, equals + 1..<field.upperBound)
      if key.says("Root") {
        guard fields.root == nil else { throw .xray("Root occurs twice") }
        fields.root = value
      } else if key.says("Parent") {
        guard fields.parent == nil else { throw .xray("Parent occurs twice") }
        fields.parent = value
      } else if key.says("Sampled") {
        guard fields.sampled == nil else { throw .xray("Sampled occurs twice") }
        fields.sampled = value
      }
    }
    return fields
  }

  private static func traceID(_ text: Span<UInt8>, _ root: Range<Int>) throws(InvalidContext) -> TraceID {
    let start = root.lowerBound
    guard root.count == 35, text[start] == UInt8(ascii: "1"), text[start + 1] == UInt8(ascii: "-"),
      text[start + 10] == UInt8(ascii: "-"), let time = Hexadecimal.number(text, start + 2..<start + 10),
      let middle = Hexadecimal.number(text, start + 11..<start + 19),
      let low = Hexadecimal.number(text, start + 19..<start + 35)
    else { throw .xray("Root is not 1-, 8 digits, - and 24 digits, in lower-case hexadecimal") }
    let traceID = TraceID(high: time << 32 | middle, low: low)
    guard !traceID.isZero else { throw .xray("Root is zero") }
    return traceID
  }

  /// `?` asks the receiver of the trace to decide.
  private static func sampling(_ text: Span<UInt8>, _ range: Range<Int>?) throws(InvalidContext) -> SamplingState {
    guard let range, !range.isEmpty else { return .deferred }
    if range.count == 1 {
      switch text[range.lowerBound] {
      case UInt8(ascii: "0"): return .denied
      case UInt8(ascii: "1"): return .accepted
      case UInt8(ascii: "?"): return .deferred
      default: break
      }
    }
    throw .xray("Sampled is not 0, 1 or ?")
  }
}

extension InvalidContext {
  fileprivate static func xray(_ reason: String) -> InvalidContext { InvalidContext(XRay.header, reason) }
}

extension Span<UInt8> {
  fileprivate func says(_ text: String) -> Bool {
    let text = text.utf8.span
    guard count == text.count else { return false }
    for index in indices where self[index] != text[index] { return false }
    return true
  }
}
