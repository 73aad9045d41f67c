import CSluice

// Fields as bytes, for values that might not be UTF-8.
extension Headers {
  /// Lends each field in wire order, without copying it; name and value are valid only inside of `body`.
  public func withEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
    _ = call.withExchange { api, exchange in
      var index = 0
      var name = sluice_text()
      var value = sluice_text()
      while api.pointee.header_at(exchange, side.rawValue, index, &name, &value) == 0 {
        body(name.bytes, value.bytes)
        index += 1
      }
    }
  }

  /// Adds a field after the existing ones.
  public func add(_ value: UnsafeRawBufferPointer, for name: UnsafeRawBufferPointer) throws(StageFailure) {
    try call.write("header \"\(String(decoding: name, as: UTF8.self))\"") { api, exchange in
      api.pointee.header_add(exchange, side.rawValue, sluice_text(name), sluice_text(value))
    }
  }
}
