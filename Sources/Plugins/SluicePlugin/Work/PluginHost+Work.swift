import CSluice
import SluiceSupport

extension PluginHost {
  /// Runs a blocking function on a thread of the host, and waits until the function has returned (`sluice.work/1`, a
  /// draft).
  ///
  ///     let text = try await host.work { try readFile(path) }
  ///
  /// A transaction that waits is suspended; its event loop continues with others. The function is never interrupted; if
  /// the plugin is deactivated before the function begins, the function does not run. At most 256 functions of an
  /// instance can wait or run at a time.
  ///
  /// - Parameter request: the exchange that waits for the function, inside an `async` method of an interceptor: if that
  ///   exchange is cancelled before the function begins, the function does not run.
  /// - Throws: the error that the function throws. `CancellationError` if the task is cancelled, or if `request` is
  ///   cancelled before the function begins. ``StageFailure`` with the code `limit` if too many functions wait or run,
  ///   with `closing` if the instance is ending, with `refused` in `init`, and with `unsupported` if the host does not
  ///   have the table.
  public func work<Success: Sendable>(
    onBehalfOf request: StageRequest? = nil, _ body: @escaping @Sendable () throws -> Success
  ) async throws -> Success {
    try Task.checkCancellation()
    var parent = sluice_token()
    if let request {
      guard let token = (request.call as? SuspendableCall)?.tokenForCalls() else { throw CancellationError() }
      parent = token
    }
    return try await withCheckedThrowingContinuation { continuation in
      let result = Locked<Result<Success, any Error>?>(nil)
      let work = PendingWork {
        let outcome = Result(catching: body)
        result.withLock { $0 = outcome }
      } end: { status in
        continuation.resume(with: result.withLock { $0 } ?? .failure(PendingWork.failure(status)))
      }
      work.start(link, parent)
    }
  }
}

/// A function that runs on a thread of the host and returns its result to the plugin.
private final class PendingWork: Sendable {
  private let run: @Sendable () -> Void
  private let end: @Sendable (sluice_status?) -> Void

  init(_ run: @escaping @Sendable () -> Void, end: @escaping @Sendable (sluice_status?) -> Void) {
    self.run = run
    self.end = end
  }

  /// The completion owns a reference, unless the start is refused.
  func start(_ link: HostLink, _ parent: sluice_token) {
    let context = Unmanaged.passRetained(self)
    let status = link.withHost { host in
      host.work?.pointee.run(
        host, parent, { PendingWork.of($0)?.takeUnretainedValue().run() },
        { PendingWork.of($0)?.takeRetainedValue().end($1) }, context.toOpaque())
        ?? sluice_status(SLUICE_STATUS_UNSUPPORTED)
    }
    guard status != sluice_status(SLUICE_STATUS_OK) else { return }
    context.release()
    end(status)
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> Unmanaged<PendingWork>? {
    context.map { Unmanaged<PendingWork>.fromOpaque($0) }
  }

  /// Why the function did not run, or has no result.
  static func failure(_ status: sluice_status?) -> any Error {
    switch status.map(Int.init) {
    case nil, Int(SLUICE_STATUS_CLOSING): StageFailure.instanceEnded
    case Int(SLUICE_STATUS_STALE): CancellationError()
    case Int(SLUICE_STATUS_UNSUPPORTED):
      StageFailure(code: "unsupported", message: "this host does not run blocking functions of plugins")
    case Int(SLUICE_STATUS_LIMIT):
      StageFailure(code: "limit", message: "too many functions of this plugin wait for a thread or run on one")
    case Int(SLUICE_STATUS_REFUSED):
      StageFailure(code: "refused", message: "a plugin can run blocking functions only after it was activated")
    case let status?:
      StageFailure(code: "refused", message: "the host refused to run a blocking function (status \(status))")
    }
  }
}
