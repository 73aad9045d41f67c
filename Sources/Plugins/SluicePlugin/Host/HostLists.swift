import CSluice
import SluiceSupport

/// A list in the host, with the functions for it. `@unchecked Sendable`: the functions can be called from any thread.
final class HostListHandle: @unchecked Sendable {
  let list: OpaquePointer
  let origins: UnsafePointer<sluice_origins>

  init(_ list: OpaquePointer, _ origins: UnsafePointer<sluice_origins>) {
    self.list = list
    self.origins = origins
  }
}

/// The lists of an instance. Each list is released once: with its `HostList`, or at the end of the instance, because
/// the host allows no release after the end.
final class HostLists: Sendable {
  private let handles = Locked<[ObjectIdentifier: HostListHandle]>([:])

  func insert(_ handle: HostListHandle) { handles.withLock { $0[ObjectIdentifier(handle)] = handle } }

  /// Holds the lock during the release, so that ``releaseAll()`` cannot return before the list is released.
  func release(_ handle: HostListHandle) {
    handles.withLock { handles in
      guard handles.removeValue(forKey: ObjectIdentifier(handle)) != nil else { return }
      handle.origins.pointee.release(handle.list)
    }
  }

  /// [destroy]
  func releaseAll() {
    handles.withLock { handles in
      for handle in handles.values { handle.origins.pointee.release(handle.list) }
      handles = [:]
    }
  }
}
