import CSluice
import Glibc
import SluiceTestKit

typealias EntryPoint =
  @convention(c) (
    UnsafePointer<sluice_host>?, UInt32, UnsafeMutablePointer<sluice_error>?
  ) -> UnsafePointer<sluice_plugin>?

/// Returns the entry point of a built plugin. The library stays mapped, as it does in the engine.
func entryPoint(of product: String) throws -> EntryPoint {
  let path = BuiltProducts.library(product)
  guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE),
    let entry = dlsym(library, "sluice_plugin_entry")
  else { throw StubRefusal(message: dlerror().map { String(cString: $0) } ?? "cannot load \(path)") }
  return unsafeBitCast(entry, to: EntryPoint.self)
}

extension StubInstance {
  /// Passes an event to the tracer. If `isQueued`, the event has no exchange, as with queued delivery.
  func record(_ exchange: StubExchange, isQueued: Bool = false, _ fill: @Sendable (inout sluice_event) -> Void) {
    onLoop(exchange) { instance, pointer in
      var event = sluice_event()
      event.size = UInt32(MemoryLayout<sluice_event>.size)
      event.kind = UInt32(SLUICE_EVENT_DID_COMPLETE)
      event.outcome = UInt32(SLUICE_OUTCOME_SUCCEEDED)
      event.exchange = isQueued ? nil : pointer
      event.method = exchange.lend(exchange.method.utf8)
      event.url = exchange.lend(exchange.url.utf8)
      event.request_id = exchange.lend("r-1".utf8)
      fill(&event)
      withUnsafePointer(to: event) { self.tracer?.on_event(instance, $0) }
    }
  }
}
