import SluiceHTTP1
import SluiceMessages

/// The result of reading a response, with the positions of its parts.
struct ResponseOutcome: Equatable {
  struct Head: Equatable {
    let status: Int
    let version: HTTPVersion
    let fields: [Field]
    let body: ResponseFraming.Body
    let endsConnection: Bool
    let hasContentCoding: Bool
    let hasTransferCoding: Bool
  }

  struct Field: Equatable {
    let name: [UInt8]
    let value: [UInt8]
  }

  /// The informational heads, then the final head.
  var heads: [Head] = []
  /// The end of the final head.
  var bodyStart: Int?
  var body: [UInt8] = []
  var trailers: [Field] = []
  /// The position at which the body ends; nil if it has not ended.
  var end: Int?
  var violation: MessageViolation?
  /// The first property that did not hold.
  private(set) var brokenProperty: String?

  mutating func demand(_ holds: Bool, _ property: String) {
    if !holds, brokenProperty == nil { brokenProperty = property }
  }

  /// The part of the result on which two readers must agree if they get the bytes in different pieces. Bytes that are
  /// not HTTP are refused at once. The reason quotes the bytes received until then, which depend on the pieces, so the
  /// reason is left out.
  var agreed: ResponseOutcome {
    var outcome = self
    if violation?.kind == .notHTTP { outcome.violation = MessageViolation(.notHTTP, "") }
    return outcome
  }

  static func fields(_ fields: HeaderFields) -> [Field] {
    fields.indices.map {
      Field(
        name: Array(fields.buffer[fields.nameRange(at: $0)]), value: Array(fields.buffer[fields.valueRange(at: $0)]))
    }
  }
}
