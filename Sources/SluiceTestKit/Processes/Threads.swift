import Glibc
import SluiceLocks

/// Runs what blocks on a thread of its own, for tests of code whose tasks need the shared pool.
public func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  let result = await Handover.wait { answer in
    Threads.start { answer.give(Swift.Result { try body() }) }
  }
  return try result.get()
}

/// Threads of the kit's own: what blocks must not take one of the shared pool that tests run on.
enum Threads {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs the body on a new detached thread.
  static func start(_ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 256 * 1024)
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    precondition(status == 0, "no thread to be had: \(String(cString: strerror(status)))")
  }
}
