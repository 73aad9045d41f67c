import CSluice

/// Integers that the host keeps for the name of an instance. The integers stay exact across hot swaps, in which the old
/// and the new build count at the same time.
///
/// They can be used from any thread. Only the first use of a key takes a lock. Keys have 1 to 256 bytes; a name has up
/// to 4096 keys. The integers exist as long as the engine.
public struct HostValues: Sendable {
  let link: HostLink

  /// Adds to a value, which is 0 until it is set, and returns the new value. Nil if the host refuses: it keeps no
  /// values, the name has too many keys, or the instance has ended.
  @discardableResult
  public func add(_ amount: Int64 = 1, to key: String) -> Int64? {
    var result: Int64 = 0
    let status = call(key) { $1.pointee.add($0, $2, amount, &result) }
    return status == sluice_status(SLUICE_STATUS_OK) ? result : nil
  }

  /// The value; nil if it was never set.
  public subscript(key: String) -> Int64? {
    var value: Int64 = 0
    let status = call(key) { $1.pointee.get($0, $2, &value) }
    return status == sluice_status(SLUICE_STATUS_OK) ? value : nil
  }

  /// Sets a value if it equals the expected one; a value that was never set counts as 0.
  /// - Returns: whether it was set, and its previous value. Nil in the same cases as ``add(_:to:)``.
  public func compareExchange(
    _ key: String, expected: Int64, desired: Int64
  ) -> (exchanged: Bool, original: Int64)? {
    var original = expected
    let status = call(key) { $1.pointee.compare_exchange($0, $2, &original, desired) }
    switch status.map(Int.init) {
    case Int(SLUICE_STATUS_OK): return (true, expected)
    case Int(SLUICE_STATUS_ABSENT): return (false, original)
    default: return nil
    }
  }

  private func call(
    _ key: String, _ body: (UnsafePointer<sluice_host>, UnsafePointer<sluice_values>, sluice_text) -> sluice_status
  ) -> sluice_status? {
    let status: sluice_status?? = link.withHost { host in
      host.values.map { values in withText(key) { body(host, values, $0) } }
    }
    return status ?? nil
  }
}

extension PluginHost {
  /// Integers that outlive the builds of the plugin.
  public var values: HostValues { HostValues(link: link) }
}
