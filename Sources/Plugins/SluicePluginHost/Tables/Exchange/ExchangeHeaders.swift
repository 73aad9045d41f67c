import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The header functions of an exchange.
///
/// The native form is accessed in place, so that reading a header copies and retains nothing. A text that is lent to
/// the plugin is in the buffer of the fields. Therefore, the first function that then changes the fields keeps their
/// old buffer until the call returns (``CalledExchange/keepLentFields(_:)``).
enum ExchangeHeaders {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  static func get(
    _ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text, _ value: UnsafeMutablePointer<sluice_text>?
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let name = name.bytes, let value else { return called.refuse(.invalidArgument, "header_get") }
      let found: sluice_text?
      switch Source(called, side) {
      case .request: found = called.exchange.requestForms.native.headers.lend(name)
      case .issue: found = called.exchange.issueHeaders?.lend(name)
      case .response: found = called.exchange.responseForms.native?.headers.lend(name)
      case .document(let document):
        found = DocumentHeaders(document.json).value(named: name).map { lend($0, called) }
      case .none: found = nil
      case .invalid: return called.refuse(.invalidArgument, "header_get: side \(side)")
      }
      guard let found else { return Status.absent }
      called.noteLentFields(side)
      value.pointee = found
      return Status.ok
    }
  }

  /// Lends a header of the current hop. The text stays at its address until the call returns, because these headers are
  /// replaced only when the next hop begins.
  static func getIssued(
    _ handle: OpaquePointer?, _ name: sluice_text, _ value: UnsafeMutablePointer<sluice_text>?
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let name = name.bytes, let value else { return called.refuse(.invalidArgument, "issued_header_get") }
      guard var headers = called.exchange.issued?.headers, let found = headers.lend(name) else { return Status.absent }
      value.pointee = found
      return Status.ok
    }
  }

  static func at(
    _ handle: OpaquePointer?, _ side: sluice_side, _ index: Int, _ name: UnsafeMutablePointer<sluice_text>?,
    _ value: UnsafeMutablePointer<sluice_text>?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    let found: (name: sluice_text, value: sluice_text)?
    switch Source(called, side) {
    case .request: found = called.exchange.requestForms.native.headers.lend(at: index)
    case .issue: found = called.exchange.issueHeaders?.lend(at: index)
    case .response: found = called.exchange.responseForms.native?.headers.lend(at: index)
    case .document(let document):
      let field = index < 0 ? nil : DocumentHeaders(document.json).field(at: index)
      found = field.map { (sluice_text($0.name), lend($0.value, called)) }
    case .none: found = nil
    case .invalid: return called.refuse(.invalidArgument, "header_at: side \(side)")
    }
    guard let found else { return Status.absent }
    called.noteLentFields(side)
    name?.pointee = found.name
    value?.pointee = found.value
    return Status.ok
  }

  private static func lend(_ value: DocumentHeaders.Value, _ called: CalledExchange) -> sluice_text {
    switch value {
    case .lent(let bytes): sluice_text(bytes)
    case .decoded(let bytes): sluice_text(called.lend(bytes))
    }
  }
}

extension CalledExchange {
  @inline(__always)
  fileprivate func noteLentFields(_ side: sluice_side) {
    call.pointee.lentFields |= 1 << UInt8(truncatingIfNeeded: side)
  }

  /// Keeps the native fields of a side. Call it before they change, because the plugin may read borrowed texts of these
  /// fields until the call returns.
  @inline(__always)
  func keepLentFields(_ side: sluice_side) {
    if call.pointee.lentFields & 1 << UInt8(truncatingIfNeeded: side) != 0 { keepFields(side) }
  }

  @inline(never)
  private func keepFields(_ side: sluice_side) {
    call.pointee.lentFields &= ~(1 << UInt8(truncatingIfNeeded: side))
    if side == 1 {
      if let response = exchange.responseForms.native { keep(response.headers.buffer) }
    } else {
      keep(exchange.requestForms.native.headers.buffer)
      if let hop = exchange.issueHeaders { keep(hop.buffer) }
    }
  }
}

// These functions are `mutating` although they change nothing, so that they work on the fields in place, even inside an
// optional.
extension HeaderFields {
  /// Lends the first value of that name. The text points into the buffer of the fields, which does not move until the
  /// fields change.
  @inline(__always)
  fileprivate mutating func lend(_ name: UnsafeBufferPointer<UInt8>) -> sluice_text? {
    firstIndex(named: name.span).map { lend(valueRange(at: $0)) }
  }

  fileprivate mutating func lend(at index: Int) -> (name: sluice_text, value: sluice_text)? {
    guard indices.contains(index) else { return nil }
    return (lend(nameRange(at: index)), lend(valueRange(at: index)))
  }

  @inline(__always)
  private func lend(_ range: Range<Int>) -> sluice_text {
    buffer.withUnsafeBufferPointer { sluice_text(UnsafeBufferPointer(rebasing: $0[range])) }
  }
}

extension ExchangeHeaders {
  /// Finds the form of a message whose headers a function must read.
  enum Source {
    case request
    case issue
    case response
    case document(LiveDocument)
    case none
    case invalid

    @inline(__always)
    init(_ called: CalledExchange, _ side: sluice_side) {
      if side == 0 {
        if called.phase == .issue {
          self = called.exchange.issueHeaders == nil ? .none : .issue
        } else if let document = called.requestDocument {
          self = .document(document)
        } else {
          self = .request
        }
      } else if side == 1 {
        if let document = called.responseDocument {
          self = .document(document)
        } else {
          self = called.exchange.hasResponse ? .response : .none
        }
      } else {
        self = .invalid
      }
    }
  }
}
