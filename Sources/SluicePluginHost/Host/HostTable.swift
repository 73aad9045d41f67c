package import CSluice
import Glibc
import SluicePipeline

/// The functions of `sluice_host`.
package enum HostTable {
  /// Lends a table for the call of an entry point: it has no instance behind it, so everything but the clock answers
  /// that it is not offered.
  package static func withEntryTable<Answer, Failure: Error>(
    for runtime: HostRuntime, _ body: (UnsafePointer<sluice_host>) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let result = runtime.programName.withText { name in
      runtime.programVersion.withText { version in
        var table = functions(flags: runtime.isProbe ? UInt32(SLUICE_HOST_PROBE) : 0)
        table.name = name
        table.version = version
        return Result { () throws(Failure) in try body(&table) }
      }
    }
    return try result.get()
  }

  /// A table for an instance, whose texts are never freed.
  static func make(for runtime: HostRuntime, name: String) -> sluice_host {
    var table = functions(flags: runtime.isProbe ? UInt32(SLUICE_HOST_PROBE) : 0)
    table.name = .immortal(runtime.programName)
    table.version = .immortal(runtime.programVersion)
    table.instance_name = .immortal(name)
    return table
  }

  private static func functions(flags: UInt32) -> sluice_host {
    var table = sluice_host()
    table.size = UInt32(MemoryLayout<sluice_host>.size)
    table.abi = UInt32(SLUICE_ABI_VERSION)
    table.flags = flags
    table.features = HostFeatures.offered.rawValue
    table.exchange = ExchangeTable.shared
    table.resume = { HostTable.resume($0, $1, $2) }
    table.post = { HostTable.post($0, $1, $2, $3) }
    table.enter = { HostTable.enter($0, $1) }
    table.log = { HostTable.log($0, $1, $2) }
    table.clock_ns = { HostTable.clock($0) }
    table.extension = { HostTable.extension($0, $1) }
    return table
  }

  private static func log(_ host: UnsafePointer<sluice_host>?, _ level: sluice_log_level, _ message: sluice_text) {
    guard let seat = HostSeat.of(host) else { return }
    guard let text = PluginText.line(message) else {
      return seat.report(.invalidArgument, "log: a text without an address")
    }
    seat.write(PluginLogEntry.Level(rawValue: level) ?? .error, text)
  }

  private static func clock(_ host: UnsafePointer<sluice_host>?) -> UInt64 {
    if let loop = HostSeat.of(host)?.runtime?.loops.first?.loop { return loop.now.nanoseconds }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  private static func `extension`(
    _ host: UnsafePointer<sluice_host>?, _ id: UnsafePointer<CChar>?
  ) -> UnsafeRawPointer? {
    guard let id, host?.pointee.handle != nil else { return nil }
    if strcmp(id, SLUICE_VALUES_ID) == 0 { return UnsafeRawPointer(ValueFunctions.shared) }
    if strcmp(id, SLUICE_TIMERS_ID) == 0 { return UnsafeRawPointer(TimerFunctions.shared) }
    if strcmp(id, SLUICE_CALLOUT_ID) == 0 { return UnsafeRawPointer(CallOutFunctions.shared) }
    if strcmp(id, SLUICE_METRICS_ID) == 0 { return UnsafeRawPointer(MetricFunctions.shared) }
    if strcmp(id, SLUICE_COMPLETIONS_ID) == 0 { return UnsafeRawPointer(CompletionFunctions.shared) }
    if strcmp(id, SLUICE_CONNECTION_ID) == 0 { return UnsafeRawPointer(ConnectionFunctions.table()) }
    if strcmp(id, SLUICE_RESPONSE_STREAM_ID) == 0 { return UnsafeRawPointer(ResponseStreamFunctions.shared) }
    if strcmp(id, SLUICE_WANT_BODY_ID) == 0 { return UnsafeRawPointer(WantBodyFunctions.shared) }
    return nil
  }
}
