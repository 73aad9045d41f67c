import CSluice
import Glibc
import SluiceMessages
import SluicePipeline

/// The functions of `sluice_host`.
package enum HostTable {
  /// Calls the entry point of a library. Blocks. [control]
  /// - Parameter number: the generation's number in the engine.
  package static func enter(
    _ library: LoadedLibrary, for runtime: HostRuntime, number: Int? = nil
  ) throws(PluginError) -> PluginGeneration {
    try withEntryTable(for: runtime) { table throws(PluginError) in
      try PluginEntry.call(library, host: table, number: number)
    }
  }

  /// Lends a table for the call of an entry point. The table belongs to no instance, so its functions do nothing,
  /// except for the clock.
  private static func withEntryTable<Answer, Failure: Error>(
    for runtime: HostRuntime, _ body: (UnsafePointer<sluice_host>) throws(Failure) -> Answer
  ) throws(Failure) -> Answer {
    let result = runtime.programName.withText { name in
      runtime.programVersion.withText { version in
        var table = functions(for: runtime)
        table.name = name
        table.version = version
        return Result { () throws(Failure) in try body(&table) }
      }
    }
    return try result.get()
  }

  /// Makes the table for an instance. The texts in the table are never freed.
  static func make(for runtime: HostRuntime, name: String) -> sluice_host {
    var table = functions(for: runtime)
    table.name = .immortal(runtime.programName)
    table.version = .immortal(runtime.programVersion)
    table.instance_name = .immortal(name)
    return table
  }

  private static func functions(for runtime: HostRuntime) -> sluice_host {
    var table = sluice_host()
    table.size = UInt32(MemoryLayout<sluice_host>.size)
    table.abi = UInt32(SLUICE_ABI_VERSION)
    table.flags =
      (runtime.isTrial ? UInt32(SLUICE_HOST_TRIAL) : 0) | (runtime.isShared ? UInt32(SLUICE_HOST_SHARED) : 0)
    table.features = runtime.features.rawValue
    table.exchange = ExchangeTable.shared
    table.resume = { HostTable.resume($0, $1, $2) }
    table.post = { HostTable.post($0, $1, $2, $3) }
    table.enter = { HostTable.enter($0, $1) }
    table.log = { HostTable.log($0, $1, $2) }
    table.clock_ns = { HostTable.clock($0) }
    table.extension = { HostTable.extension($0, $1) }
    table.wall_clock_ns = { HostTable.wallClock($0) }
    return table
  }

  private static func log(_ host: UnsafePointer<sluice_host>?, _ level: sluice_log_level, _ message: sluice_text) {
    guard let handle = HostHandle.of(host) else { return }
    guard let text = PluginText.line(message) else {
      return handle.report(.invalidArgument, "log: a text without an address")
    }
    let level = PluginLogEntry.Level(rawValue: level) ?? .error
    if level >= handle.minimumLogLevel { handle.write(level, text) }
  }

  private static func clock(_ host: UnsafePointer<sluice_host>?) -> UInt64 {
    if let loop = HostHandle.of(host)?.runtime?.loops.first?.loop { return loop.now.nanoseconds }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  private static func wallClock(_ host: UnsafePointer<sluice_host>?) -> UInt64 {
    if let time = HostHandle.of(host)?.runtime?.wallClock { return UInt64(clamping: time.nanoseconds) }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  private static func `extension`(
    _ host: UnsafePointer<sluice_host>?, _ id: UnsafePointer<CChar>?
  ) -> UnsafeRawPointer? {
    guard let id, let handle = HostHandle.of(host) else { return nil }
    func offer<Table>(
      _ name: String, _ feature: HostFeatures, _ table: @autoclosure () -> UnsafePointer<Table>
    ) -> UnsafeRawPointer? {
      guard strcmp(id, name) == 0 else { return nil }
      if !handle.features.isDisjoint(with: feature) { return UnsafeRawPointer(table()) }
      _ = handle.lacks(feature, "the table \(name)")
      return nil
    }
    // These tables need nothing of the engine, so every host has them.
    if strcmp(id, SLUICE_SPANS_ID) == 0 { return UnsafeRawPointer(SpanFunctions.shared) }
    if strcmp(id, SLUICE_ORIGINS_ID) == 0 { return UnsafeRawPointer(OriginFunctions.shared) }
    if strcmp(id, SLUICE_LOG_ID) == 0 { return UnsafeRawPointer(LogFunctions.shared) }
    if strcmp(id, SLUICE_ATTRIBUTES_ID) == 0 { return UnsafeRawPointer(AttributeFunctions.shared) }
    if strcmp(id, SLUICE_SHARED_ID) == 0 { return UnsafeRawPointer(SharedFunctions.shared) }
    if strcmp(id, SLUICE_CLIENT_ID) == 0 { return UnsafeRawPointer(ClientFunctions.shared) }
    if strcmp(id, SLUICE_WORK_ID) == 0 { return UnsafeRawPointer(WorkFunctions.shared) }
    if strcmp(id, SLUICE_REPORTS_ID) == 0 { return UnsafeRawPointer(ReportFunctions.shared) }
    if strcmp(id, SLUICE_PLACES_ID) == 0 { return UnsafeRawPointer(PlaceFunctions.shared) }
    if strcmp(id, SLUICE_THREADS_ID) == 0 { return ThreadFunctions.shared.map { UnsafeRawPointer($0) } }
    return offer(SLUICE_VALUES_ID, .values, ValueFunctions.shared)
      ?? offer(SLUICE_TIMERS_ID, .timers, TimerFunctions.shared)
      ?? offer(SLUICE_CALLOUT_ID, .callOuts, CallOutFunctions.shared)
      ?? offer(SLUICE_METRICS_ID, .metrics, MetricFunctions.shared)
      ?? offer(SLUICE_COMPLETIONS_ID, .notifications, CompletionFunctions.shared)
      ?? offer(SLUICE_WANT_BODY_ID, [.requestBody, .responseBody], WantBodyFunctions.shared)
      ?? offer(SLUICE_CONNECTION_ID, .hops, ConnectionFunctions.table())
      ?? offer(SLUICE_RESPONSE_STREAM_ID, .respond, ResponseStreamFunctions.shared)
  }
}
