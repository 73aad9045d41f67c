import CSluice
import SluicePipeline

/// The table `sluice.shared/1`.
enum SharedFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_shared> = {
    let table = UnsafeMutablePointer<sluice_shared>.allocate(capacity: 1)
    table.initialize(
      to: sluice_shared(
        size: UInt32(MemoryLayout<sluice_shared>.size), reserved: 0,
        get: { SharedFunctions.get($0, $1, $2, $3, $4, $5) }, put: { SharedFunctions.put($0, $1, $2, $3, $4) },
        compare_exchange: { SharedFunctions.compareExchange($0, $1, $2, $3, $4) },
        remove: { SharedFunctions.remove($0, $1, $2) }))
    return UnsafePointer(table)
  }()

  /// The data of a call whose host table and name are valid.
  private struct Access {
    let handle: HostHandle
    let table: SharedTable
    let name: [UInt8]
    let now: Instant

    func refuse(_ detail: String) -> sluice_status {
      handle.report(.invalidArgument, detail)
      return Status.invalid
    }

    var full: sluice_status {
      handle.reportLimit(
        "the plugin \"\(handle.plugin)\" shares at most \(SharedTable.maximumCount) values of \(SharedTable.maximumBytes) "
          + "bytes in all")
      return Status.limit
    }
  }

  private static func get(
    _ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ buffer: UnsafeMutableRawPointer?, _ capacity: Int,
    _ size: UnsafeMutablePointer<Int>?, _ version: UnsafeMutablePointer<UInt64>?
  ) -> sluice_status {
    with(host, name) { access in
      // Swift reads a `size_t` as an `Int`: a capacity of more than half of the address space is negative here.
      guard capacity == 0 || (buffer != nil && capacity > 0) else {
        return access.refuse("get of a shared value: the buffer has no address, or an impossible size")
      }
      let value = access.table.get(access.name, at: access.now)
      size?.pointee = value?.bytes.count ?? 0
      version?.pointee = value?.version ?? 0
      guard let value else { return Status.absent }
      guard value.bytes.count <= capacity else { return Status.limit }
      value.bytes.withUnsafeBytes { bytes in
        if let buffer, let address = bytes.baseAddress { buffer.copyMemory(from: address, byteCount: bytes.count) }
      }
      return Status.ok
    }
  }

  private static func put(
    _ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ value: sluice_bytes, _ timeout: UInt64,
    _ version: UnsafeMutablePointer<UInt64>?
  ) -> sluice_status {
    with(host, name) { access in
      set(access, value, timeout, if: .none) { version?.pointee = $0 }
    }
  }

  private static func compareExchange(
    _ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ version: UnsafeMutablePointer<UInt64>?,
    _ value: sluice_bytes, _ timeout: UInt64
  ) -> sluice_status {
    with(host, name) { access in
      guard let version else { return access.refuse("compare_exchange of a shared value: the version is NULL") }
      return set(access, value, timeout, if: .version(version.pointee)) { version.pointee = $0 }
    }
  }

  private static func set(
    _ access: Access, _ value: sluice_bytes, _ timeout: UInt64, if condition: SharedTable.Condition,
    _ tell: (UInt64) -> Void
  ) -> sluice_status {
    guard let bytes = value.bytes, bytes.count <= SharedTable.maximumValueBytes else {
      return access.refuse("a shared value has up to \(SharedTable.maximumValueBytes) bytes")
    }
    guard timeout > 0 else { return access.refuse("a shared value with a timeout of 0") }
    let expiry = timeout == .max ? nil : access.now + .nanoseconds(Int64(clamping: timeout))
    switch access.table.set(access.name, Array(bytes), until: expiry, if: condition, at: access.now) {
    case .done(let version):
      tell(version)
      return Status.ok
    case .differs(let version):
      tell(version)
      return Status.absent
    case .full: return access.full
    }
  }

  private static func remove(_ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ version: UInt64)
    -> sluice_status
  {
    with(host, name) { access in
      access.table.remove(access.name, version: version, at: access.now) ? Status.ok : Status.absent
    }
  }

  private static func with(
    _ host: UnsafePointer<sluice_host>?, _ name: sluice_text, _ body: (Access) -> sluice_status
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let runtime = handle.runtime else { return Status.closing }
    guard let bytes = name.bytes, !bytes.isEmpty, bytes.count <= SharedTable.maximumNameBytes else {
      handle.report(.invalidArgument, "the name of a shared value has 1 to \(SharedTable.maximumNameBytes) bytes")
      return Status.invalid
    }
    return body(Access(handle: handle, table: handle.shared, name: Array(bytes), now: runtime.now))
  }
}
