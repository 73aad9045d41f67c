import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Synchronization

/// A loop and its transport, for one test.
final class Wire: Sendable {
  let loop: Loop
  let transport: any TestedTransport

  init(_ settings: TransportSettings = .patient, resolver: NameResolver = .shared) throws {
    loop = try Loop()
    do {
      transport = try TransportKind.current.make(loop: loop, settings: settings, resolver: resolver)
    } catch {
      loop.shutdown()
      throw error
    }
  }

  deinit { loop.shutdown() }

  /// Starts a transfer on the loop; `then` gets it there.
  func start(
    _ request: Request, _ probe: Probe, options: TransferOptions = TransferOptions(),
    then: @escaping @Sendable (any Transfer) -> Void = { _ in }
  ) {
    loop.post { [transport] in then(transport.start(request, options, observer: probe)) }
  }

  /// One request to its end.
  func send(
    _ request: Request, options: TransferOptions = TransferOptions(), _ probe: Probe = Probe()
  ) async throws -> Probe.Record {
    start(request, probe, options: options)
    return try await probe.waitForEnd()
  }

  func get(_ url: String) async throws -> Probe.Record { try await send(Request(url: HTTPURL(url))) }

  /// Runs on the loop, after everything that was posted before.
  func onLoop<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      loop.post { continuation.resume(returning: body()) }
    }
  }
}

/// A transfer kept for the loop.
final class TransferSlot: @unchecked Sendable {
  // Sendable: read and written on the loop alone.
  var transfer: (any Transfer)?
}

extension TransportSettings {
  /// For tests whose point is not the time a connection takes: no machine is too slow for them.
  static var patient: TransportSettings {
    var settings = TransportSettings()
    settings.connectTimeout = .seconds(300)
    return settings
  }
}
