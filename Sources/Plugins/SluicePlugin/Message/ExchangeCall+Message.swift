import CSluice
import SluiceJSON

/// Reading and writing the messages of the exchange. Borrowed texts are copied before the function returns.
extension ExchangeCall {
  func header(_ side: MessageSide, _ name: String) -> [UInt8]? {
    read { api, exchange, value in
      withText(name) { api.pointee.header_get(exchange, side.rawValue, $0, &value) }
    }
  }

  func issuedHeader(_ name: String) -> String? {
    readString { api, exchange, value in
      withText(name) { api.pointee.issued_header_get(exchange, $0, &value) }
    }
  }

  func header(_ side: MessageSide, at index: Int) -> (name: String, value: String)? {
    withExchange { api, exchange in
      var name = sluice_text()
      var value = sluice_text()
      let status = api.pointee.header_at(exchange, side.rawValue, index, &name, &value)
      return status == 0 ? (String(name), String(value)) : nil
    } ?? nil
  }

  var method: String? { readString { api, exchange, value in api.pointee.method_get(exchange, &value) } }

  func setMethod(_ method: String) throws(StageFailure) {
    try write("method \"\(method)\"") { api, exchange in withText(method) { api.pointee.method_set(exchange, $0) } }
  }

  var url: String? { readString { api, exchange, value in api.pointee.url_get(exchange, &value) } }

  func setURL(_ url: String) throws(StageFailure) {
    try write("the new URL") { api, exchange in withText(url) { api.pointee.url_set(exchange, $0) } }
  }

  var status: Int { withExchange { Int($0.pointee.status_get($1)) } ?? 0 }

  func setStatus(_ status: Int) throws(StageFailure) {
    try write("status \(status)") { $0.pointee.status_set($1, UInt32(clamping: status)) }
  }

  func body(_ side: MessageSide) -> [UInt8]? {
    withExchange { api, exchange in
      var bytes = sluice_bytes()
      guard api.pointee.body_get(exchange, side.rawValue, &bytes) == 0 else { return nil }
      return [UInt8](UnsafeRawBufferPointer(start: bytes.data, count: bytes.size))
    } ?? nil
  }

  func setBody(_ side: MessageSide, _ bytes: [UInt8]) throws(StageFailure) {
    try write("the body") { api, exchange in
      bytes.withUnsafeBytes { api.pointee.body_set(exchange, side.rawValue, sluice_bytes($0)) }
    }
  }

  func wantBody(_ side: MessageSide) throws(StageFailure) {
    let subject = "the request for a whole \(side == .request ? "request" : "response") body"
    try write(subject) { _, exchange in
      let status = link.current.wantBody?.pointee.want_body(exchange, side.rawValue)
      guard let status, status != SLUICE_STATUS_UNSUPPORTED else { return sluice_status(SLUICE_STATUS_REFUSED) }
      return status
    }
  }

  func bodyFile(_ side: MessageSide) -> BodyFile? {
    withExchange { api, exchange in
      var path = sluice_text()
      var byteCount: UInt64 = 0
      let status = api.pointee.body_file(exchange, side.rawValue, &path, &byteCount)
      return status == 0 ? BodyFile(path: String(path), byteCount: byteCount) : nil
    } ?? nil
  }

  func isBodyStreamed(_ side: MessageSide) -> Bool {
    withExchange { api, exchange in
      var bytes = sluice_bytes()
      return api.pointee.body_get(exchange, side.rawValue, &bytes) == sluice_status(SLUICE_STATUS_UNSUPPORTED)
        && bodyFile(side) == nil
    } ?? false
  }

  func document(_ side: MessageSide, _ access: DocumentAccess, body: Bool) -> JSONValue? {
    let flags = access.flag | (body ? UInt32(SLUICE_JSON_BODY) : 0)
    return withExchange { api, exchange in
      api.pointee.json(exchange, side.rawValue, flags).map { JSONValue(retaining: $0) }
    } ?? nil
  }

  private func read(
    _ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer, inout sluice_text) -> sluice_status
  ) -> [UInt8]? {
    withExchange { api, exchange in
      var value = sluice_text()
      return body(api, exchange, &value) == 0 ? [UInt8](value.bytes) : nil
    } ?? nil
  }

  private func readString(
    _ body: (UnsafePointer<sluice_exchange_api>, OpaquePointer, inout sluice_text) -> sluice_status
  ) -> String? {
    withExchange { api, exchange in
      var value = sluice_text()
      return body(api, exchange, &value) == 0 ? String(value) : nil
    } ?? nil
  }
}
