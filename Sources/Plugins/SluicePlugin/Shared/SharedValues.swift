import CSluice

/// The bytes under a name, with the version that identifies this value.
public struct SharedValue: Sendable, Hashable {
  /// The bytes as they were set, at most 1 MiB.
  public let bytes: [UInt8]
  /// The version of the value. It is greater than the version of every earlier value in the engine, and never 0.
  public let version: UInt64
}

/// The result of a conditional change.
public enum SharedExchange: Sendable, Hashable {
  /// The value was set and has this version now.
  case exchanged(version: UInt64)
  /// Nothing was changed: the value has this version; nil means that it does not exist.
  case differs(version: UInt64?)
}

/// Named bytes that all instances of the plugin in one engine share: instances with other names and configurations, and
/// the builds before and after a hot swap (`sluice.shared/1`, a draft).
///
/// The values belong to the plugin's id, so if some configurations must not share a value, the name of the value must
/// contain what distinguishes these configurations. The values exist as long as the engine. A name has 1 to 256 bytes,
/// a value up to 1 MiB; a plugin has up to 4096 values of 16 MiB in all. Can be used from any thread; never blocks.
public struct SharedValues: Sendable {
  let link: HostLink

  /// The value; nil if there is none, or it has expired.
  public subscript(name: String) -> SharedValue? {
    var bytes: [UInt8] = []
    while true {
      var (size, version) = (0, UInt64(0))
      let capacity = bytes.count
      let status = call(name) { host, table, name in
        bytes.withUnsafeMutableBytes { table.pointee.get(host, name, $0.baseAddress, capacity, &size, &version) }
      }
      switch status.map(Int.init) {
      case Int(SLUICE_STATUS_OK): return SharedValue(bytes: Array(bytes.prefix(size)), version: version)
      // The value can grow again before the next read.
      case Int(SLUICE_STATUS_LIMIT): bytes = [UInt8](repeating: 0, count: size)
      default: return nil
      }
    }
  }

  /// Sets a value, independent of its version.
  /// - Parameter lifetime: how long the value exists; nil means as long as the engine.
  /// - Returns: the version of the new value.
  /// - Throws: ``StageFailure`` with the code `limit` if the plugin shares too much, `invalid` for a name or value that
  ///   is not allowed, `unsupported` in a host without the table, `closing` if the instance has ended.
  @discardableResult
  public func set(
    _ name: String, to bytes: [UInt8], for lifetime: Duration? = nil
  ) throws(StageFailure) -> UInt64 {
    var version: UInt64 = 0
    let status = call(name) { host, table, name in
      lend(bytes) { table.pointee.put(host, name, $0, Self.timeout(lifetime), &version) }
    }
    guard status == sluice_status(SLUICE_STATUS_OK) else { throw StageFailure(refusedSharing: status) }
    return version
  }

  /// Sets a value if it still has the expected version. Of several callers, only one succeeds.
  /// - Parameter expected: nil if the value must not exist.
  /// - Throws: the same errors as ``set(_:to:for:)``.
  public func exchange(
    _ name: String, expected: UInt64?, desired bytes: [UInt8], for lifetime: Duration? = nil
  ) throws(StageFailure) -> SharedExchange {
    var version = expected ?? 0
    let status = call(name) { host, table, name in
      lend(bytes) { table.pointee.compare_exchange(host, name, &version, $0, Self.timeout(lifetime)) }
    }
    switch status.map(Int.init) {
    case Int(SLUICE_STATUS_OK): return .exchanged(version: version)
    case Int(SLUICE_STATUS_ABSENT): return .differs(version: version == 0 ? nil : version)
    default: throw StageFailure(refusedSharing: status)
    }
  }

  /// Removes a value.
  /// - Parameter version: the version that the value must have; nil accepts any.
  /// - Returns: whether the value existed.
  @discardableResult
  public func remove(_ name: String, version: UInt64? = nil) -> Bool {
    call(name) { host, table, name in table.pointee.remove(host, name, version ?? 0) } == 0
  }

  private static func timeout(_ lifetime: Duration?) -> UInt64 {
    lifetime.map { max(1, min($0.nanoseconds, .max - 1)) } ?? .max
  }

  private func call(
    _ name: String, _ body: (UnsafePointer<sluice_host>, UnsafePointer<sluice_shared>, sluice_text) -> sluice_status
  ) -> sluice_status? {
    link.withHost { host in
      guard let table = host.shared else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return withText(name) { body(host, table, $0) }
    }
  }
}

private func lend(_ bytes: [UInt8], _ body: (sluice_bytes) -> sluice_status) -> sluice_status {
  bytes.withUnsafeBufferPointer { body(sluice_bytes(data: $0.baseAddress, size: $0.count)) }
}

extension PluginHost {
  /// Bytes that all instances of the plugin share (`sluice.shared/1`, a draft).
  public var shared: SharedValues { SharedValues(link: link) }
}

extension StageFailure {
  fileprivate init(refusedSharing status: sluice_status?) {
    switch status.map(Int.init) {
    case nil, Int(SLUICE_STATUS_CLOSING): self = .instanceEnded
    case Int(SLUICE_STATUS_UNSUPPORTED):
      self.init(code: "unsupported", message: "this host does not support shared values")
    case Int(SLUICE_STATUS_LIMIT): self.init(code: "limit", message: "the plugin shares too many values or bytes")
    case Int(SLUICE_STATUS_INVALID):
      self.init(code: "invalid", message: "the name or the size of the shared value is not allowed")
    case let status?: self.init(code: "refused", message: "the host refused a shared value with status \(status)")
    }
  }
}
