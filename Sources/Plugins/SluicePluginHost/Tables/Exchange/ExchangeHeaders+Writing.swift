import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

extension ExchangeHeaders {
  static func set(
    _ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text, _ value: sluice_text
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let (name, value) = fields(name, value, called.phase) else { return refuseField(called, name, value) }
      if side == 0, isHost(name), let fault = hostFault(name, value) { return called.refuse(.invalidArgument, fault) }
      let isSet: Bool
      switch target(called, side) {
      case .request:
        isSet = called.exchange.requestForms.native.headers.setWithinLimits(
          name.span, to: value.span, marks: .addedByStage)
      case .issue: isSet = called.exchange.issueHeaders?.setWithinLimits(name.span, to: value.span) ?? true
      case .response:
        isSet = called.exchange.responseForms.native?.headers.setWithinLimits(name.span, to: value.span) ?? true
      case .document(let document):
        let headers = DocumentHeaders(document.json)
        isSet = headers.hasRoom(for: name, value)
        if isSet, let replaced = headers.replace(name, with: value) { called.keep(replaced) }
      case .none, .invalid: return refuseSide(called, side, "header_set")
      }
      return isSet ? Status.ok : refuseMore(called, "header fields")
    }
  }

  static func add(
    _ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text, _ value: sluice_text
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let (name, value) = fields(name, value, called.phase) else { return refuseField(called, name, value) }
      if side == 0, isHost(name), let fault = hostFault(name, value, addedTo: called) {
        return called.refuse(.invalidArgument, fault)
      }
      let isAdded: Bool
      switch target(called, side) {
      case .request:
        isAdded = called.exchange.requestForms.native.headers.appendWithinLimits(
          name.span, value.span, marks: .addedByStage)
      case .issue: isAdded = called.exchange.issueHeaders?.appendWithinLimits(name.span, value.span) ?? true
      case .response:
        isAdded = called.exchange.responseForms.native?.headers.appendWithinLimits(name.span, value.span) ?? true
      case .document(let document):
        let headers = DocumentHeaders(document.json)
        isAdded = headers.hasRoom(for: name, value)
        if isAdded { headers.add(name, value) }
      case .none, .invalid: return refuseSide(called, side, "header_add")
      }
      return isAdded ? Status.ok : refuseMore(called, "header fields")
    }
  }

  static func remove(_ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text) -> sluice_status {
    CallContext.with(handle) { called in
      guard let name = name.bytes else { return called.refuse(.invalidArgument, "header_remove") }
      let isGone: Bool
      switch target(called, side) {
      case .request: isGone = called.exchange.requestForms.native.headers.removeAll(named: name)
      case .issue: isGone = called.exchange.issueHeaders?.removeAll(named: name) ?? false
      case .response: isGone = called.exchange.responseForms.native?.headers.removeAll(named: name) ?? false
      case .document(let document):
        let taken = DocumentHeaders(document.json).take(name)
        if let taken { called.keep(taken) }
        isGone = taken != nil
      case .none, .invalid: return refuseSide(called, side, "header_remove")
      }
      return isGone ? Status.ok : Status.absent
    }
  }

  static func mark(
    _ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text, _ marks: UInt32
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let name = name.bytes, marks & ~UInt32(SLUICE_HEADER_SENSITIVE) == 0 else {
      return called.refuse(.invalidArgument, "header_mark: marks \(marks)")
    }
    let marks: HeaderFields.Marks = marks == 0 ? [] : .sensitive
    let isThere: Bool
    switch target(called, side) {
    case .request: isThere = called.exchange.requestForms.native.headers.mark(named: name.span, marks)
    case .issue: isThere = called.exchange.issueHeaders?.mark(named: name.span, marks) ?? false
    case .response: isThere = called.exchange.responseForms.native?.headers.mark(named: name.span, marks) ?? false
    case .document(let document):
      isThere = DocumentHeaders(document.json).value(named: name) != nil
      if isThere, !marks.isEmpty { document.markSensitive(name) }
    case .none, .invalid: return refuseSide(called, side, "header_mark")
    }
    return isThere ? Status.ok : Status.absent
  }

  /// Finds the form of a message whose headers a function must change; ``Source/none`` if the call may not change them.
  /// If this is the native form, the message's document is dropped.
  @inline(__always)
  private static func target(_ called: CalledExchange, _ side: sluice_side) -> Source {
    let isAllowed = side == 0 ? called.phase.writesRequestHeaders : called.writesResponse
    guard isAllowed else { return side < 2 ? .none : .invalid }
    let source = Source(called, side)
    called.keepLentFields(side)
    switch source {
    case .request: called.dropRequestView()
    case .response: called.dropResponseView()
    case .issue, .document, .none, .invalid: break
    }
    return source
  }

  /// Returns name and value, or nil if a stage must not set this field. The only hop-by-hop field that a stage may set
  /// is `Proxy-Authorization`, in the answer to a challenge.
  @inline(__always)
  static func fields(_ name: sluice_text, _ value: sluice_text, _ phase: CallPhase) -> (Bytes, Bytes)? {
    guard let name = name.bytes, let value = value.bytes, FieldSyntax.isToken(name.span),
      FieldSyntax.isFieldValue(value.span),
      !FieldSyntax.isHopByHop(name.span)
        || phase == .challenge && FieldSyntax.equals(name.span, "proxy-authorization")
    else { return nil }
    return (name, value)
  }

  @inline(__always)
  private static func isHost(_ name: Bytes) -> Bool { name.count == 4 && FieldSyntax.equals(name.span, "host") }

  /// Returns what is wrong with a `Host` field, or nil. A request has at most one `Host` field, which must be valid.
  @inline(never)
  private static func hostFault(_ name: Bytes, _ value: Bytes, addedTo called: CalledExchange? = nil) -> String? {
    do throws(MessageError) { try HeaderFields.checkHost(value.span) } catch { return error.description }
    guard let called else { return nil }
    let isThere =
      switch Source(called, 0) {
      case .request: called.exchange.requestForms.native.headers.firstIndex(named: name.span) != nil
      case .issue: called.exchange.issueHeaders?.firstIndex(named: name.span) != nil
      case .document(let document): DocumentHeaders(document.json).value(named: name) != nil
      case .response, .none, .invalid: false
      }
    return isThere ? "header \"host\": the request has one; header_set replaces it" : nil
  }

  /// Reports why ``fields(_:_:)`` has refused a field.
  @inline(never)
  static func refuseField(_ called: CalledExchange, _ name: sluice_text, _ value: sluice_text) -> sluice_status {
    guard let name = name.bytes, let value = value.bytes else {
      return called.refuse(.invalidArgument, "a header without an address")
    }
    do {
      try HeaderFields.check(name: name.span, value: value.span)
    } catch { return called.refuse(.invalidArgument, error.description) }
    return called.refuse(.hopByHopField, "header \(PlainText.quote(name.span))")
  }

  /// Reports that a stage cannot add more fields to a message.
  @inline(never)
  static func refuseMore(_ called: CalledExchange, _ words: String) -> sluice_status {
    called.call.pointee.instance.hostHandle.reportLimit(
      "stages add \(words) up to \(HeaderFields.maximumFields) in a message, and up to \(HeaderFields.maximumFieldBytes)"
        + " bytes")
    return Status.limit
  }

  @inline(never)
  private static func refuseSide(_ called: CalledExchange, _ side: sluice_side, _ function: String) -> sluice_status {
    guard side < 2 else { return called.refuse(.invalidArgument, "\(function): side \(side)") }
    return called.refuse(.refusedWrite, "\(function) on the \(side == 0 ? "request" : "response")")
  }
}

extension HeaderFields {
  /// Returns false if there was no such field.
  fileprivate mutating func removeAll(named name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = firstIndex(named: name.span) else { return false }
    remove(named: name.span, from: first)
    return true
  }
}
