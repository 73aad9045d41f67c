import CSluice
import Glibc
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The body functions of an exchange.
enum ExchangeBody {
  /// The maximum number of bytes that one call can write.
  static let maximumWriteBytes = 64 << 20

  static func get(
    _ handle: OpaquePointer?, _ side: sluice_side, _ bytes: UnsafeMutablePointer<sluice_bytes>?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let bytes, side < 2 else { return called.refuse(.invalidArgument, "body_get") }
    guard called.offersBody(of: side) else { return called.lacks(.body(of: side), "body_get") }
    switch body(called, side) {
    case .empty, nil: return Status.absent
    case .file, .stream: return Status.unsupported
    case .bytes(let found):
      if found.isEmpty { return Status.absent }
      bytes.pointee = found.withUnsafeBufferPointer { sluice_bytes($0) }
      return Status.ok
    }
  }

  static func set(_ handle: OpaquePointer?, _ side: sluice_side, _ bytes: sluice_bytes) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard side < 2, let bytes = bytes.bytes else { return called.refuse(.invalidArgument, "body_set") }
    guard called.offersBody(of: side) else { return called.lacks(.body(of: side), "body_set") }
    guard side == 0 ? called.phase.writesRequest : called.writesResponse else {
      return called.refuse(.refusedWrite, "body_set")
    }
    let body = Body.bytes(Array(bytes))
    if side == 0 {
      setRequest(body, called)
    } else {
      setResponse(body, called)
    }
    return Status.ok
  }

  static func setFile(
    _ handle: OpaquePointer?, _ side: sluice_side, _ path: sluice_text, _ flags: UInt32
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    let known = UInt32(SLUICE_FILE_REMOVE)
    let isGiven = flags & known != 0
    let path = path.bytes.flatMap { bytes in
      bytes.first == UInt8(ascii: "/") && !bytes.contains(0) ? String(validating: bytes, as: UTF8.self) : nil
    }
    var isKept = false
    defer { if !isKept, isGiven, let path { unlink(path) } }
    guard side < 2, flags & ~known == 0, let path else {
      return called.refuse(.invalidArgument, "body_set_file: an invalid side or flags, or a path that is not absolute")
    }
    guard called.offersBody(of: side) else { return called.lacks(.body(of: side), "body_set_file") }
    guard side == 0 ? called.phase.writesRequest : called.writesResponse else {
      return called.refuse(.refusedWrite, "body_set_file")
    }
    let body: Body
    do throws(UploadSource.Failure) {
      guard access(path, R_OK) == 0 else { throw .system(errno) }
      switch try UploadSource(at: path) {
      case .file(let byteCount):
        isKept = true
        let file =
          isGiven ? GivenFiles.body(at: path, byteCount: byteCount) : FileBody(path: path, byteCount: byteCount)
        body = .file(file)
      case .content(let bytes): body = .bytes(bytes)
      }
    } catch {
      called.call.pointee.instance.hostHandle.log(
        .warning, "body_set_file: \(PlainText.quote(path)) is not a regular file that can be read: \(error.text)")
      return Status.failed
    }
    if side == 0 {
      setRequest(body, called)
    } else {
      setResponse(body, called)
    }
    return Status.ok
  }

  static func file(
    _ handle: OpaquePointer?, _ side: sluice_side, _ path: UnsafeMutablePointer<sluice_text>?,
    _ bytes: UnsafeMutablePointer<UInt64>?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard side < 2 else { return called.refuse(.invalidArgument, "body_file: side \(side)") }
    guard called.offersBody(of: side) else { return called.lacks(.body(of: side), "body_file") }
    guard case .file(let file) = body(called, side) else { return Status.absent }
    path?.pointee = called.lend(file.path)
    bytes?.pointee = UInt64(clamping: file.byteCount)
    return Status.ok
  }

  static func write(_ handle: OpaquePointer?, _ side: sluice_side, _ bytes: sluice_bytes) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard side < 2, let bytes = bytes.bytes else { return called.refuse(.invalidArgument, "body_write") }
    guard called.offers(.streamedBody) else { return called.lacks(.streamedBody, "body_write") }
    guard called.isPiece(of: side) else { return called.refuse(.refusedWrite, "body_write") }
    if let output = called.call.pointee.output { return append(bytes, to: &output.pointee) }
    guard let token = called.call.pointee.token,
      let isTaken = called.exchange.writePiece(bytes, upTo: maximumWriteBytes, by: token)
    else { return Status.stale }
    return isTaken ? Status.ok : Status.limit
  }

  static func addTrailer(
    _ handle: OpaquePointer?, _ side: sluice_side, _ name: sluice_text, _ value: sluice_text
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let (name, value) = ExchangeHeaders.fields(name, value, called.phase) else {
      return ExchangeHeaders.refuseField(called, name, value)
    }
    guard called.offers(.streamedBody) else { return called.lacks(.streamedBody, "trailer_add") }
    guard called.isPiece(of: side) else { return called.refuse(.refusedWrite, "trailer_add") }
    if side == 0, !called.exchange.takesRequestTrailers { return Status.unsupported }
    guard !FieldSyntax.isBarredFromTrailers(name.span) else {
      return called.refuse(.invalidArgument, "trailer_add: \(PlainText.quote(name.span)) is not allowed as a trailer")
    }
    let isAdded: Bool
    if side == 0 {
      called.dropRequestView()
      isAdded = called.exchange.requestForms.native.trailers.appendWithinLimits(
        name.span, value.span, marks: .addedByStage)
    } else {
      isAdded = called.exchange.responseForms.native?.trailers.appendWithinLimits(name.span, value.span) ?? true
    }
    return isAdded ? Status.ok : ExchangeHeaders.refuseMore(called, "trailers")
  }

  private static func append(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) -> sluice_status {
    guard bytes.count <= maximumWriteBytes - output.count else { return Status.limit }
    output.append(contentsOf: bytes)
    return Status.ok
  }
}

// Finds the current body: in the document if the document is authoritative and has a body, otherwise in the native
// form.
extension ExchangeBody {
  private static func body(_ called: CalledExchange, _ side: sluice_side) -> Body? {
    let native = side == 0 ? called.exchange.requestForms.native.body : called.exchange.responseForms.native?.body
    guard let document = side == 0 ? called.requestDocument : called.responseDocument else { return native }
    guard let member = document.json["body"] else { return document.isBodyFilled ? .empty : native }
    if let path = member["file"]?.string {
      if case .file(let file) = native, file.path == path { return native }
      return .file(FileBody(path: path, byteCount: Int(member["bytes"]?.integer ?? 0)))
    }
    guard let bytes = bytes(of: member, parsed: document.parsedBody) else { return nil }
    // The call must keep these bytes: they have just been decoded, so no other object keeps them.
    called.keep(bytes)
    return .bytes(bytes)
  }

  private static func bytes(of member: JSONValue, parsed: [UInt8]?) -> [UInt8]? {
    if let text = member["text"]?.withStringBytes({ Array($0) }) { return text }
    if let encoded = member["base64"]?.withStringBytes({ Base64.decode($0.span) }) { return encoded }
    guard let value = member["json"] else { return nil }
    return try? BodyDocument.text(of: value, parsed: parsed)
  }

  private static func setRequest(_ body: Body, _ called: CalledExchange) {
    if let document = called.requestDocument {
      forgetBody(of: document, called)
      called.warn(document.follow(body, isResponse: false))
    } else {
      called.dropRequestView()
      called.keepLentFields(0)
      called.warn(called.exchange.requestForms.native.follow(body))
    }
    called.keep(called.exchange.requestForms.native.body)
    called.exchange.requestForms.native.body = body
  }

  private static func setResponse(_ body: Body, _ called: CalledExchange) {
    if let document = called.responseDocument {
      forgetBody(of: document, called)
      called.warn(document.follow(body, isResponse: true))
    } else {
      called.dropResponseView()
      called.keepLentFields(1)
      called.warn(called.exchange.responseForms.native?.follow(body))
    }
    if let response = called.exchange.responseForms.native { called.keep(response.body) }
    called.exchange.responseForms.native?.body = body
    called.exchange.hasOwnResponseBody = true
  }

  /// Makes a stream the body of the response.
  static func setStream(_ stream: BodyStream, _ called: CalledExchange) {
    if let document = called.responseDocument {
      forgetBody(of: document, called)
      called.warn(document.follow(.stream(stream), isResponse: true))
    } else {
      called.dropResponseView()
      called.keepLentFields(1)
      called.warn(called.exchange.responseForms.native?.follow(.stream(stream)))
    }
    if let response = called.exchange.responseForms.native { called.keep(response.body) }
    called.exchange.streamResponseBody(stream)
  }

  /// From here on the native body is authoritative, until the document's body is requested again.
  private static func forgetBody(of document: LiveDocument, _ called: CalledExchange) {
    if let old = document.json["body"] { called.keep(old) }
    document.json["body"] = nil
    document.isBodyFilled = false
    document.parsedBody = nil
  }
}

extension CalledExchange {
  fileprivate func isPiece(of side: sluice_side) -> Bool {
    phase == .requestPiece && side == 0 || phase == .responsePiece && side == 1
  }

  /// Whether the host lets the call read and set the whole body of the side. A call can always do so for a response
  /// that it has made itself.
  func offersBody(of side: sluice_side) -> Bool {
    offers(.body(of: side)) || side == 1 && call.pointee.hasResponded
  }

  /// Keeps a body that is being replaced, because the plugin may read its bytes or its file until the call returns.
  func keep(_ body: Body) {
    switch body {
    case .bytes(let bytes): keep(bytes)
    case .file(let file): keep(file)
    case .empty, .stream: break
    }
  }
}

extension CalledExchange {
  fileprivate func warn(_ fields: DerivedFields?) {
    if let fields { call.pointee.instance.hostHandle.warn(about: fields) }
  }
}

extension HeaderFields {
  /// Sets an existing content length to the length of the new body, or removes it if that length is not known.
  fileprivate mutating func follow(_ body: Body) {
    if contains("content-length") { self["content-length"] = body.byteCount.map { String($0) } }
  }
}

// Each of these also removes the other fields that describe the old body.
extension Request {
  fileprivate mutating func follow(_ body: Body) -> DerivedFields {
    headers.follow(body)
    return removeDerivedFields()
  }
}

extension Response {
  fileprivate mutating func follow(_ body: Body) -> DerivedFields {
    headers.follow(body)
    return removeDerivedFields()
  }
}

extension LiveDocument {
  fileprivate func follow(_ body: Body, isResponse: Bool) -> DerivedFields {
    let (head, trailers) = (DocumentHeaders(json), DocumentHeaders(json, trailers: true))
    if head["content-length"] != nil { head["content-length"] = body.byteCount.map { String($0) } }
    let fields = DerivedFields(isResponse: isResponse) {
      head.values(named: $0)
    } trailers: {
      trailers.values(named: $0)
    }
    for name in fields.removed { head[name] = nil }
    for name in fields.removedTrailers { trailers[name] = nil }
    if let left = fields.announcement { head["trailer"] = left.isEmpty ? nil : left }
    return fields
  }
}
