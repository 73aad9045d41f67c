import CSluice

/// The table `sluice.values/1`.
enum ValueFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_values> = {
    let table = UnsafeMutablePointer<sluice_values>.allocate(capacity: 1)
    table.initialize(
      to: sluice_values(
        size: UInt32(MemoryLayout<sluice_values>.size), reserved: 0,
        add: { ValueFunctions.add($0, $1, $2, $3) }, get: { ValueFunctions.get($0, $1, $2) },
        compare_exchange: { ValueFunctions.compareExchange($0, $1, $2, $3) }))
    return UnsafePointer(table)
  }()

  private static let maximumKeyBytes = 256

  private static func add(
    _ host: UnsafePointer<sluice_host>?, _ key: sluice_text, _ amount: Int64, _ result: UnsafeMutablePointer<Int64>?
  ) -> sluice_status {
    with(host, key) { table, key in
      guard let value = table.add(key, amount) else { return Status.limit }
      result?.pointee = value
      return Status.ok
    }
  }

  private static func get(
    _ host: UnsafePointer<sluice_host>?, _ key: sluice_text, _ value: UnsafeMutablePointer<Int64>?
  ) -> sluice_status {
    with(host, key) { table, key in
      guard let found = table.get(key) else { return Status.absent }
      value?.pointee = found
      return Status.ok
    }
  }

  private static func compareExchange(
    _ host: UnsafePointer<sluice_host>?, _ key: sluice_text, _ expected: UnsafeMutablePointer<Int64>?, _ desired: Int64
  ) -> sluice_status {
    guard let expected else { return Status.invalid }
    return with(host, key) { table, key in
      switch table.compareExchange(key, expected: expected.pointee, desired: desired) {
      case .done: return Status.ok
      case .full: return Status.limit
      case .differs(let value):
        expected.pointee = value
        return Status.absent
      }
    }
  }

  private static func with(
    _ host: UnsafePointer<sluice_host>?, _ key: sluice_text,
    _ body: (ValueTable, UnsafeBufferPointer<UInt8>) -> sluice_status
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), handle.runtime != nil else { return Status.closing }
    guard let bytes = key.bytes, !bytes.isEmpty, bytes.count <= maximumKeyBytes else {
      handle.report(.invalidArgument, "the key of a value has 1 to \(maximumKeyBytes) bytes")
      return Status.invalid
    }
    return body(handle.values, bytes)
  }
}
