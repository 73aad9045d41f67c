import Foundation
public import SluicePlugin
import Synchronization

/// Stamps its number into each request and response as `stamps-generation` does, and has what a Swift library can leave
/// behind: a detached task, an actor, Foundation, protocol casts.
struct SwiftStamps: StatefulPlugin, RequestInterceptor, ResponseInterceptor {
  struct Configuration: Decodable, Sendable {
    var header: String
  }

  struct State: Codable, Sendable {
    var generations: Int
    /// What an older build knew that is gone.
    var notes: [String]
  }

  struct Torn: Error, CustomStringConvertible {
    let description = "the request was another generation's"
  }

  private actor Tally {
    private(set) var count = 0
    func add() { count += 1 }
  }

  private final class Shared: Sendable {
    let before = Mutex(State(generations: 0, notes: []))
    let task = Mutex<Task<Void, Never>?>(nil)
    let tally = Tally()
  }

  static let information = PluginInformation(id: "swift-stamps", version: "1.0.0", summary: "A fixture.")
  static let stateVersion: UInt32 = 3

  private let configuration: Configuration
  private let host: PluginHost
  private let shared = Shared()
  private let calls: Counter
  private let number: Int

  init(configuration: Configuration, host: PluginHost) throws {
    self.configuration = configuration
    self.host = host
    calls = try host.counter("calls", "Requests.")
    number = Self.number
  }

  /// The tests write another number into the marker of a built library.
  private static let marker: StaticString = "swap-generation:00000000"
  private static var number: Int {
    let digits = UnsafeRawBufferPointer(start: marker.utf8Start, count: marker.utf8CodeUnitCount).suffix(8)
    return Int(String(decoding: digits, as: UTF8.self)) ?? -1
  }

  func activate() throws {
    let tally = shared.tally
    let task = Task.detached {
      while !Task.isCancelled {
        await tally.add()
        _ = Self.casts(await tally.count)
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    shared.task.withLock { $0 = task }
    host.log(.info, "activated=\(number)")
  }

  func deactivate(deadline: Duration) {
    shared.task.withLock { $0 }?.cancel()
    host.log(.info, "deactivated=\(number)")
    for key in ["requests", "responses", "exchanged"] { host.log(.info, "\(key)=\(host.values[key] ?? -1)") }
  }

  /// Looks conformances up, which walks over every image that the runtime knows.
  @inline(never)
  private static func casts(_ value: Any) -> Bool {
    let text = String(format: "%d", (value as? Int) ?? 0)
    let date: Any? = DateComponents(calendar: Calendar(identifier: .gregorian), year: 2000).date
    return (value as? any CustomStringConvertible)?.description == text && (date as? any CustomStringConvertible) != nil
  }

  func intercept(_ request: Request, context: RequestContext) async throws {
    calls.add()
    host.values.add(to: "requests")
    var seen: Int64 = 0
    while let (isDone, now) = host.values.compareExchange("exchanged", expected: seen, desired: seen + 1), !isDone {
      seen = now
    }
    await shared.tally.add()
    _ = Self.casts(number)
    request.headers[configuration.header] = "\(number)"
  }

  func intercept(_ response: Response, context: ResponseContext) async throws {
    guard response.request.headers[configuration.header] == "\(number)" else { throw Torn() }
    host.values.add(to: "responses")
    response.headers[configuration.header] = "\(number)"
  }

  func saveState() throws -> State {
    shared.before.withLock { State(generations: $0.generations + 1, notes: ["\(number)"]) }
  }

  func loadState(_ state: State) throws {
    shared.before.withLock { $0 = state }
    host.log(.info, "before=\(state.generations)")
  }
}

@section(".note.sluice") @used
public let note: PluginNote = (7, 28, 1, 0x6975_6c73, 0x6563, 1, 1, 0, 512, 1, 0, 0)

@c(sluice_plugin_entry)
public func entry(_ host: PluginEntryHost, _ abi: UInt32, _ error: PluginEntryError) -> PluginEntryTable {
  export(SwiftStamps.self, host, abi, error)
}
