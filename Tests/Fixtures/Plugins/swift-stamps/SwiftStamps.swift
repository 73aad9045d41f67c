import Foundation
public import SluicePlugin
import Synchronization

/// Stamps its number into each request and response as `stamps-generation` does, and uses features that a Swift library
/// can leave behind: a detached task, an actor, Foundation, protocol casts.
struct SwiftStamps: StatefulPlugin, RequestInterceptor, ResponseInterceptor {
  struct Configuration: Decodable, Sendable {
    var header: String
  }

  struct State: Codable, Sendable {
    var generations: Int
    /// A member that only older builds knew.
    var notes: [String]
    /// A member that no build saves, but that one build requires.
    var moons: Int?

    init(generations: Int, notes: [String]) {
      self.generations = generations
      self.notes = notes
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      generations = try container.decode(Int.self, forKey: .generations)
      notes = try container.decode([String].self, forKey: .notes)
      if misbehaviour == "WANTS_MORE" { moons = try container.decode(Int.self, forKey: .moons) }
    }
  }

  struct Torn: Error, CustomStringConvertible {
    let description = "the request was another generation's"
  }

  struct Moon: Error, CustomStringConvertible {
    let description: String
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
  static var stateVersion: UInt32 { misbehaviour.contains("MIGRATE") ? 4 : 3 }
  static var isStateOptional: Bool { patched(isOptional, 3) == "yes" }

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

  private static var number: Int { Int(patched(marker, 8)) ?? -1 }

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

  func deactivate(timeout: Duration) {
    shared.task.withLock { $0 }?.cancel()
    host.log(.info, "deactivated=\(number)")
    for key in ["requests", "responses", "exchanged"] { host.log(.info, "\(key)=\(host.values[key] ?? -1)") }
  }

  /// Looks up protocol conformances, which searches every image that the runtime knows.
  @inline(never)
  private static func casts(_ value: Any) -> Bool {
    let text = String(format: "%d", (value as? Int) ?? 0)
    let date: Any? = DateComponents(calendar: Calendar(identifier: .gregorian), year: 2000).date
    return (value as? any CustomStringConvertible)?.description == text && (date as? any CustomStringConvertible) != nil
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
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

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    guard response.request.headers[configuration.header] == "\(number)" else { throw Torn() }
    host.values.add(to: "responses")
    response.headers[configuration.header] = "\(number)"
  }

  func saveState() throws -> State {
    if misbehaviour == "SAVES_NONE" { throw Moon(description: "the moon cannot be saved") }
    return shared.before.withLock { State(generations: $0.generations + 1, notes: ["\(number)"]) }
  }

  static func migrate(_ document: JSONValue, fromVersion version: UInt32) throws -> State {
    guard misbehaviour == "MIGRATES" else { throw Moon(description: "a moon of version \(version)") }
    return try document.decode()
  }

  func loadState(_ state: State) throws {
    switch misbehaviour {
    case "REFUSES_STATE": throw Moon(description: "an old moon")
    case "LOAD_TRAPS": fatalError("the moon fell")
    default: break
    }
    shared.before.withLock { $0 = state }
    host.log(.info, "before=\(state.generations)")
  }
}

// The tests write other numbers and words into these markers of a built library.
private let marker: StaticString = "swap-generation:00000000"
private let does: StaticString = "swap-misbehaviour:NOTHING         "
private let isOptional: StaticString = "swap-state-optional:no "

private var misbehaviour: String { patched(does, 16) }

/// Reads the last bytes of a marker from memory.
private func patched(_ marker: StaticString, _ count: Int) -> String {
  let bytes = UnsafeRawBufferPointer(start: marker.utf8Start, count: marker.utf8CodeUnitCount).suffix(count)
  return String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
}

@section(".sluice.requires.values") @used let requiresValues = true

/// The entry point. The host looks it up by its name.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(SwiftStamps.self, host, abi, error)
}
