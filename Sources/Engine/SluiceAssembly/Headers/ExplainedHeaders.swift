import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The headers of a hop, with a record of what happened to each header that was placed.
struct ExplainedHeaders: MarkingSink {
  struct Record {
    let header: String
    let reason: HeaderDecision.Reason
    let value: String?
    let detail: String?
  }

  private(set) var headers: HopHeaders
  private let secrets: Redactor
  private(set) var records: [Record] = []

  init(_ headers: consuming HopHeaders, _ secrets: Redactor) {
    self.headers = headers
    self.secrets = secrets
  }

  @discardableResult
  mutating func place(_ name: Span<UInt8>, _ value: Span<UInt8>, marks: HeaderFields.Marks) -> Bool {
    let wasThere = headers.fields.firstIndex(named: name) != nil
    let says = headers.place(name, value, marks: marks)
    let header = Self.text(name)
    guard says else {
      let isKept = headers.existing == .keep
      let detail = isKept ? "the request's own is kept" : "existing is \"refuse\""
      records.append(
        Record(header: header, reason: isKept ? .alreadyPresent : .refused, value: nil, detail: detail))
      return false
    }
    let isSecret = marks.contains(.sensitive)
    records.append(
      Record(
        header: header, reason: .sent,
        value: isSecret ? Redactor.placeholder : secrets.value(Self.text(value), ofHeader: header),
        detail: wasThere && headers.existing == .replace ? "in place of the request's own" : nil))
    return true
  }

  mutating func withdraw(_ name: Span<UInt8>) { headers.withdraw(name) }

  /// The last record counts: a header that two propagators set has the value of the last one.
  func record(of header: String) -> Record? {
    records.last { FieldSyntax.equals($0.header.utf8.span, text: header) }
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
  }
}
