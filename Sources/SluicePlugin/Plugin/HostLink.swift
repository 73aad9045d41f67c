import CSluice
import SluiceLocks

/// The one keeper of the host pointer: nobody follows it once the instance is destroyed.
///
/// `@unchecked Sendable`: the pointer is valid until ``close()``, which waits for the lock; the host's functions reached
/// under the lock may be called from any thread.
final class HostLink: @unchecked Sendable {
  private let host: Locked<UInt>
  /// For calls that come from the host, during which the host cannot be gone.
  let current: UnsafePointer<sluice_host>

  init(_ host: UnsafePointer<sluice_host>) {
    current = host
    self.host = Locked(UInt(bitPattern: host))
  }

  /// Lends the host for a function that calls nothing back; nil when the instance has ended.
  @discardableResult
  func withHost<Result: Sendable>(_ body: (UnsafePointer<sluice_host>) -> Result) -> Result? {
    host.withLock { bits in
      guard let host = UnsafePointer<sluice_host>(bitPattern: bits) else { return nil }
      return body(host)
    }
  }

  func log(_ level: PluginHost.LogLevel, _ message: String) {
    withHost { host in
      withText(message) { host.pointee.log(host, level.rawValue, $0) }
    }
  }

  func close() {
    host.withLock { $0 = 0 }
  }
}
