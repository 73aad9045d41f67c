import Glibc
import Sluice
import SluicePipeline
import SluiceTestKit
import SluiceTraceContext
import Testing

/// A plugin that sets `x-hop` in each hop and logs what it sees: `traces-hops` in C, or its counterpart in Swift.
struct HopTracer {
  /// One event as the tracer logged it: values by name.
  struct Event {
    private let words: [Substring: Substring]

    init(_ line: String) {
      let pairs = line.split(separator: " ").map { $0.split(separator: ":", maxSplits: 1) }
      words = pairs.reduce(into: [:]) { $0[$1[0]] = $1.count > 1 ? $1[1] : "" }
    }

    subscript(_ name: Substring) -> String { String(words[name] ?? "?") }
    func number(_ name: Substring) throws -> Int { try #require(Int(self[name])) }
  }

  static let none = (trace: String(repeating: "0", count: 32), span: String(repeating: "0", count: 16))

  let engine: Engine
  private let log: Watched<[LogLine]>
  /// Keeps the library's file until the tracer is no longer used.
  private let product: PluginCompiler.Product?

  /// - Parameters:
  ///   - plugin: further members of the plugin in the configuration, each with a comma in front.
  ///   - headers: the configuration of the built-in `headers`, which is listed before the plugin; nil for none.
  ///   - more: further members of the configuration, each with a comma in front.
  init(
    defines: [String] = [], plugin: String = "", headers: String? = nil, more: String = "",
    _ change: (inout Configuration) -> Void = { _ in }
  ) async throws {
    let product = try await PluginCompiler.compile("traces-hops", defines: defines)
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    chmod(product.path, 0o755)
    try self.init(product.path, product, plugin, headers, more, change)
  }

  /// The tracer in Swift.
  init(inSwift plugin: String, headers: String?, more: String = "") throws {
    try self.init(BuiltProducts.library("traces-in-swift"), nil, plugin, headers, more) { _ in }
  }

  private init(
    _ library: String, _ product: PluginCompiler.Product?, _ plugin: String, _ headers: String?, _ more: String,
    _ change: (inout Configuration) -> Void
  ) throws {
    let builtin = headers.map { #", "headers": {"builtin": "headers", "config": \#($0)}"# } ?? ""
    let text = """
      {"plugins": {"tells": {"library": "\(library)"\(plugin)}\(builtin)},
       "request": ["tells"], "issue": [\(headers == nil ? "" : #""headers", "#)"tells"], "response": ["tells"],
       "tracers": ["tells"]\(more)}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    change(&configuration)
    let log = Watched<[LogLine]>([])
    (self.log, self.product) = (log, product)
    engine = try Engine(configuration) { line in log.update { $0.append(line) } }
  }

  /// Runs one transaction, ends the engine and returns the tracer's lines.
  func run(
    _ url: String, parent: ParentContext = ParentContext()
  ) async throws -> (result: TransactionResult, events: [Event]) {
    let result = await engine.transaction(Request(url: try HTTPURL(url)), parent: parent)
    await engine.shutdown(deactivation: Patience.limit)
    return (result, events)
  }

  var events: [Event] { told("event").map { Event($0) } }

  /// The issued `x-hop` that each call of the callback `name` saw, in order.
  func told(_ name: String) -> [String] {
    log.value.map(\.message).filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }
}
