import CSluice

/// The table `sluice.places/1`.
enum PlaceFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_places> = {
    let table = UnsafeMutablePointer<sluice_places>.allocate(capacity: 1)
    table.initialize(
      to: sluice_places(
        size: UInt32(MemoryLayout<sluice_places>.size), reserved: 0, current: { PlaceFunctions.current($0) }))
    return UnsafePointer(table)
  }()

  private static func current(_ handle: OpaquePointer?) -> UnsafeMutableRawPointer? {
    // This fast path finds the current call without retaining its exchange.
    if let call = CallContext.current, call.pointee.name == UInt(bitPattern: handle),
      call.pointee.borrowedExchange != nil
    {
      return call.stage
    }
    return CallContext.find(handle)?.call.stage
  }
}
