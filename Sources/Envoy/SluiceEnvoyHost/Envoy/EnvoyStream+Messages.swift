import CEnvoy
import SluiceForeign
import SluiceMessages

extension Request {
  /// The request of a stream, without its body.
  ///
  /// - Throws: if Sluice does not accept it.
  init(of stream: EnvoyStream, urls: LastURL) throws(MessageError) {
    var head = RequestHead()
    stream.forEachField(of: SLUICE_ENVOY_REQUEST) { name, value in head.add(name, value) }
    let text = head.scheme + Array("://".utf8) + head.authority + head.path
    if let url = text.withUnsafeBytes({ urls.read($0) }) {
      self.init(method: head.method, url: url, headers: head.fields, body: .empty)
    } else {
      // Reads it again for the reason.
      self.init(method: head.method, url: try HTTPURL(String(decoding: text, as: UTF8.self)), headers: head.fields)
    }
    try Self.check(method: method.utf8.span)
  }
}

extension Response {
  /// The response of a stream, without its body. Nil if it has no status.
  init?(of stream: EnvoyStream) {
    var status: Int?
    var fields = HeaderFields()
    stream.forEachField(of: SLUICE_ENVOY_RESPONSE) { name, value in
      if FieldSyntax.equals(name, ":status") {
        status = Int(String(copying: value))
      } else if !FieldSyntax.isHopByHop(name) {
        fields.append(name, value)
      }
    }
    guard let status else { return nil }
    self.init(status: status, headers: fields, version: .http11)
  }
}

extension EnvoyStream {
  /// Sets the fields that differ. Names that are in neither list stay as Envoy has them.
  func apply(from before: HeaderFields, to after: HeaderFields, in part: sluice_envoy_part) {
    // Most changes only add fields at the end.
    let common = zip(before.indices, after.indices).prefix { before.hasSameField(as: after, at: $0.0) }.count
    if common == before.count, common == after.count { return }
    for index in common..<before.count {
      let name = before.buffer.span.extracting(before.nameRange(at: index))
      // Each name once: a name that both lists have here is set for the second list.
      guard before.firstIndex(named: name, from: common) == index,
        after.firstIndex(named: name, from: common) == nil
      else { continue }
      set(name, to: after, in: part)
    }
    for index in common..<after.count {
      let name = after.buffer.span.extracting(after.nameRange(at: index))
      guard after.firstIndex(named: name, from: common) == index, !before.hasSameValues(of: name, as: after) else {
        continue
      }
      set(name, to: after, in: part)
    }
  }

  private func set(_ name: Span<UInt8>, to fields: HeaderFields, in part: sluice_envoy_part) {
    // In Envoy, the host is a pseudo-header.
    if FieldSyntax.equals(name, "host") {
      if let host = fields["host"] { set(":authority", to: host, in: .request) }
      return
    }
    guard var index = fields.firstIndex(named: name) else { return set(name, to: nil, in: part) }
    set(name, to: fields.buffer.span.extracting(fields.valueRange(at: index)), in: part)
    while let next = fields.firstIndex(named: name, from: index + 1) {
      let value = fields.buffer.span.extracting(fields.valueRange(at: next))
      // Envoy before 1.38 cannot add a field, so its values become one list (RFC 9110 §5.3).
      if !add(name, value, to: part) { set(name, to: fields.list(of: name).span, in: part) }
      index = next
    }
  }

  func set(_ name: StaticString, to value: String, in side: BodySide) {
    name.withText { set($0.buffer.span, to: value.utf8.span, in: side.part) }
  }

  /// Sets a field, reads it back, and removes it.
  func readsBack() -> Bool {
    let name: StaticString = "x-sluice-check"
    set(name, to: "1", in: .request)
    var found = 0
    forEachField(of: BodySide.request.part) { field, value in
      if FieldSyntax.equals(field, name), FieldSyntax.equals(value, "1") { found += 1 }
    }
    name.withText { set($0.buffer.span, to: nil, in: BodySide.request.part) }
    forEachField(of: BodySide.request.part) { field, _ in if FieldSyntax.equals(field, name) { found += 1 } }
    return found == 1
  }

  /// Says how long a body is that a stage has set.
  func setLength(_ count: Int, of side: BodySide) {
    set("content-length", to: String(count), in: side)
    ("transfer-encoding" as StaticString).withText { set($0.buffer.span, to: nil, in: side.part) }
  }
}

extension HeaderFields {
  fileprivate func hasSameValues(of name: Span<UInt8>, as other: HeaderFields) -> Bool {
    var (own, others) = (firstIndex(named: name), other.firstIndex(named: name))
    while let index = own, let place = others {
      guard other.isValue(at: place, buffer.span.extracting(valueRange(at: index))) else { return false }
      own = firstIndex(named: name, from: index + 1)
      others = other.firstIndex(named: name, from: place + 1)
    }
    return own == nil && others == nil
  }

  fileprivate func hasSameField(as other: HeaderFields, at index: Int) -> Bool {
    isName(at: index, other.buffer.span.extracting(other.nameRange(at: index)))
      && isValue(at: index, other.buffer.span.extracting(other.valueRange(at: index)))
  }

  /// All values of a name, separated by commas.
  fileprivate func list(of name: Span<UInt8>) -> [UInt8] {
    var list: [UInt8] = []
    var index = firstIndex(named: name)
    while let place = index {
      if !list.isEmpty { list += Array(", ".utf8) }
      list += buffer[valueRange(at: place)]
      index = firstIndex(named: name, from: place + 1)
    }
    return list
  }
}

/// Collects the fields of a request.
private struct RequestHead {
  var method = ""
  var scheme: [UInt8] = Array("http".utf8)
  var authority: [UInt8] = []
  var path: [UInt8] = []
  var fields = HeaderFields()

  mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard name.count > 0, name[0] == UInt8(ascii: ":") else {
      if !FieldSyntax.isTransportField(name) { fields.append(name, value) }
      return
    }
    if FieldSyntax.equals(name, ":method") {
      method = value.isGET ? "GET" : String(copying: value)
    } else if FieldSyntax.equals(name, ":path") {
      path = Array(copying: value)
    } else if FieldSyntax.equals(name, ":authority") {
      authority = Array(copying: value)
    } else if FieldSyntax.equals(name, ":scheme") {
      scheme = Array(copying: value)
    }
  }
}

extension Span<UInt8> {
  fileprivate var isGET: Bool {
    count == 3 && self[0] == UInt8(ascii: "G") && self[1] == UInt8(ascii: "E") && self[2] == UInt8(ascii: "T")
  }
}
