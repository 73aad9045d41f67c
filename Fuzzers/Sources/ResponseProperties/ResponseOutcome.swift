import SluiceHTTP1
import SluiceMessages

/// What a response was read as, and where.
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

  /// The informational heads, and the final one.
  var heads: [Head] = []
  /// The end of the final head.
  var bodyStart: Int?
  var body: [UInt8] = []
  var trailers: [Field] = []
  /// Where the body is done.
  var end: Int?
  var violation: MessageViolation?
  /// The first property that did not hold.
  private(set) var brokenProperty: String?

  mutating func demand(_ holds: Bool, _ property: String) {
    if !holds, brokenProperty == nil { brokenProperty = property }
  }

  /// What two readers must agree on if the bytes come to them in different pieces. What is no HTTP at all is refused at
  /// once, and the reason quotes the bytes that have come by then.
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
