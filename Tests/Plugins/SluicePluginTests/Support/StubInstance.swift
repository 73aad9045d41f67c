import CSluice
import Dispatch
import SluiceJSON
import SluiceTestKit

/// An instance of a plugin, which the tests call only through its C tables.
///
/// `@unchecked Sendable`: the pointers are set once, and the plugin guards the memory that they point to.
final class StubInstance: @unchecked Sendable {
  let host = StubHost()
  private let plugin: sluice_plugin
  private let instance: UnsafeMutableRawPointer
  private let isDestroyed = Watched(false)

  /// Calls create and activate.
  init(_ entry: sluice_plugin_entry_function, _ configuration: JSONValue? = nil) throws {
    let host = self.host
    plugin = try StubInstance.call { entry(host.table, 1, $0)?.pointee }
    let plugin = self.plugin
    var made: UnsafeMutableRawPointer?
    try StubInstance.check { error in
      let json = configuration?.withUnsafeJSON { $0 }
      return plugin.create(host.table, json, &made, error)
    }
    guard let made else { throw StubRefusal(message: "create gave no instance") }
    instance = made
    try StubInstance.check { plugin.activate(made, $0) }
  }

  deinit {
    end()
  }

  var interceptor: sluice_interceptor? { table(SLUICE_INTERCEPTOR_ID) }
  var tracer: sluice_tracer? { table(SLUICE_TRACER_ID) }

  private func table<Table>(_ id: String) -> Table? {
    plugin.extension(id)?.assumingMemoryBound(to: Table.self).pointee
  }

  /// Calls the plugin on the loop. The exchange is lent to the plugin during the call.
  func onLoop<Result: Sendable>(
    _ exchange: StubExchange, _ body: @Sendable (UnsafeMutableRawPointer, OpaquePointer?) -> Result
  ) -> Result {
    host.loop.sync {
      exchange.isLent = true
      defer { exchange.isLent = false }
      return body(instance, exchange.pointer)
    }
  }

  func request(_ exchange: StubExchange) -> sluice_verdict {
    onLoop(exchange) { self.interceptor?.on_request($0, $1) ?? -1 }
  }

  func response(_ exchange: StubExchange) -> sluice_verdict {
    onLoop(exchange) { self.interceptor?.on_response($0, $1) ?? -1 }
  }

  func issue(_ exchange: StubExchange) -> sluice_verdict {
    onLoop(exchange) { self.interceptor?.on_issue($0, $1) ?? -1 }
  }

  /// Cancels a suspended call, as a host does.
  func cancel(_ exchange: StubExchange) {
    host.loop.sync {
      exchange.isGone.update { $0 = true }
      if let token = exchange.token { interceptor?.on_cancel(instance, token) }
    }
  }

  /// Calls deactivate and destroy, but only the first time.
  func end() {
    let isFirst = isDestroyed.update { isDestroyed in
      defer { isDestroyed = true }
      return !isDestroyed
    }
    guard isFirst else { return }
    plugin.deactivate(instance, 2_000_000_000)
    host.loop.sync {}
    plugin.destroy(instance)
  }
}

/// The message that a plugin wrote into the error buffer.
struct StubRefusal: Error {
  var message: String
}

extension StubInstance {
  static func check(_ body: (UnsafeMutablePointer<sluice_error>) -> sluice_status) throws {
    _ = try call { body($0) == 0 ? true : nil }
  }

  static func call<Result>(_ body: (UnsafeMutablePointer<sluice_error>) -> Result?) throws -> Result {
    try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      buffer.initialize(repeating: 0)
      var error = sluice_error(
        size: UInt32(MemoryLayout<sluice_error>.size), capacity: 256, message: buffer.baseAddress)
      guard let result = body(&error) else {
        let text = buffer.map(UInt8.init(bitPattern:)).prefix { $0 != 0 }
        throw StubRefusal(message: String(decoding: text, as: UTF8.self))
      }
      return result
    }
  }
}
