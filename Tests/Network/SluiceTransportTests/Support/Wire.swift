import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport
import Synchronization
import Testing

/// A loop and its transport, for one test.
final class Wire: Sendable {
  let loop: Loop
  let transport: HTTPTransport

  init(_ settings: TransportSettings = .patient, resolver: NameResolver = .shared) throws {
    loop = try Loop()
    do {
      transport = try HTTPTransport(loop: loop, settings: settings, resolver: resolver)
    } catch {
      loop.shutdown()
      throw error
    }
  }

  deinit { loop.shutdown() }

  /// Starts a transfer on the loop, and passes the transfer to `then`, also on the loop.
  func start(
    _ request: Request, _ probe: Probe, options: TransferOptions = TransferOptions(),
    then: @escaping @Sendable (any Transfer) -> Void = { _ in }
  ) {
    loop.post { [transport] in then(transport.start(request, options, observer: probe)) }
  }

  /// Sends one request, and returns what was recorded at its end.
  func send(
    _ request: Request, options: TransferOptions = TransferOptions(), _ probe: Probe = Probe()
  ) async throws -> Probe.Record {
    start(request, probe, options: options)
    return try await probe.waitForEnd()
  }

  func get(_ url: String) async throws -> Probe.Record { try await send(Request(url: HTTPURL(url))) }

  /// Runs the body on the loop after all work that was posted before, and returns its result.
  func onLoop<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      loop.post { continuation.resume(returning: body()) }
    }
  }

  /// Lets the loop turn until a condition holds on it.
  func turn(until isMet: @escaping @Sendable () -> Bool) async {
    for _ in 0..<1_000_000 where await onLoop(isMet) { return }
    Issue.record("the condition does not hold after a million turns")
  }
}

/// Holds a transfer for code on the loop.
final class TransferSlot: @unchecked Sendable {
  // `@unchecked Sendable` is safe because only code on the loop reads and writes it.
  var transfer: (any Transfer)?
}

extension TransportSettings {
  /// Settings with a connect timeout of 300 seconds, for tests that do not test this timeout. A slow machine must not
  /// fail them.
  static var patient: TransportSettings {
    var settings = TransportSettings()
    settings.connectTimeout = .seconds(300)
    return settings
  }
}
