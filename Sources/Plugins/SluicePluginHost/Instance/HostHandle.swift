import CSluice
import SluiceMessages
import SluiceSupport
import Synchronization

/// What `handle` in `sluice_host` points to. It is the part of an instance that its plugin can still use after the
/// instance is gone: the host table, a number, and counters of violations.
///
/// A handle is never freed. If a thread of a plugin still calls the host after its instance has ended, it reaches a
/// table whose functions answer "gone", and not freed memory. A handle takes a few hundred bytes, and each generation
/// has few handles.
final class HostHandle: @unchecked Sendable {
  // Sendable: the weak references are set before any other thread knows the handle; the table is never written after
  // `init`.
  let index: Int
  let name: String
  let plugin: String
  let generation: Int
  let violations = ViolationCounters()
  /// The metrics that the plugin has defined so far in `create`; empty after `create`.
  let metrics: MetricDraft
  /// The values that were set under this instance's name. Earlier generations of the instance use the same table.
  let values: ValueTable
  /// The bytes that all instances of the plugin share.
  let shared: SharedTable
  let features: HostFeatures
  /// Log lines of the plugin below this level are dropped.
  let minimumLogLevel: PluginLogEntry.Level
  /// The number of lists of hosts that the plugin has not released yet.
  let openHostLists = Atomic<Int>(0)
  private let limitCount = Atomic<Int>(0)
  private let fieldCount = Atomic<Int>(0)
  /// The features that ``lacks(_:_:)`` has reported.
  private let lacking = Atomic<UInt32>(0)
  /// The table that the plugin gets.
  let table: UnsafePointer<sluice_host>
  private(set) weak var runtime: HostRuntime?
  private(set) weak var instance: PluginInstance?
  /// Whether an instance has been created for this handle; false while `create` runs.
  private(set) var wasBound = false

  private static let all = Locked<[HostHandle]>([])

  /// - Parameters:
  ///   - metrics: the metrics of the previous instance. A metric with the same definition keeps its numbers.
  ///   - table: the functions that the plugin gets.
  static func make(
    name: String, plugin: String, generation: Int, runtime: HostRuntime, continuing metrics: [PluginMetric] = [],
    table: sluice_host
  ) -> HostHandle {
    all.withLock { handles in
      let handle = HostHandle(handles.count, name, plugin, generation, runtime, metrics, table)
      handles.append(handle)
      return handle
    }
  }

  /// The handle with that number; nil if there is none.
  static func at(_ index: Int) -> HostHandle? { all.withLock { $0.indices.contains(index) ? $0[index] : nil } }

  /// The handle behind a host table.
  @inline(__always)
  static func of(_ host: UnsafePointer<sluice_host>?) -> HostHandle? {
    host?.pointee.handle.map { Unmanaged<HostHandle>.fromOpaque($0).takeUnretainedValue() }
  }

  private init(
    _ index: Int, _ name: String, _ plugin: String, _ generation: Int, _ runtime: HostRuntime,
    _ predecessors: [PluginMetric], _ functions: sluice_host
  ) {
    metrics = MetricDraft(continuing: predecessors)
    values = runtime.values(of: name)
    shared = runtime.shared(of: plugin)
    features = runtime.features
    minimumLogLevel = runtime.minimumLogLevel
    self.index = index
    self.name = name
    self.plugin = plugin
    self.generation = generation
    self.runtime = runtime
    let table = UnsafeMutablePointer<sluice_host>.allocate(capacity: 1)
    table.initialize(to: functions)
    self.table = UnsafePointer(table)
    table.pointee.handle = Unmanaged.passUnretained(self).toOpaque()
  }

  func bind(to instance: PluginInstance) {
    self.instance = instance
    wasBound = true
  }

  /// Counts a violation. Logs only the first, the tenth, the hundredth and so on of a rule
  /// (``ViolationCounters/count(_:)``).
  func report(_ kind: Violation, _ detail: String? = nil) {
    guard violations.count(kind) else { return }
    let count = violations[kind]
    log(.warning, "\(kind.text)\(detail.map { " (\($0))" } ?? "")\(count > 1 ? "; \(count) times so far" : "")")
  }

  /// Counts a call that was refused because of a limit; this is not a violation. Logs only the first, the tenth, the
  /// hundredth refusal and so on.
  func reportLimit(_ words: String) {
    let count = limitCount.add(1, ordering: .relaxed).newValue
    var number = count
    while number % 10 == 0 { number /= 10 }
    if number == 1 { log(.warning, "has reached a limit: \(words)\(count > 1 ? "; \(count) refusals so far" : "")") }
  }

  /// Notes that the plugin asked for a function or a table of a feature that the host does not offer, and returns the
  /// status of such a call. Only the first call for a feature is logged.
  @inline(never)
  func lacks(_ feature: HostFeatures, _ function: String) -> sluice_status {
    let isKnown = feature.rawValue & ~lacking.load(ordering: .relaxed) == 0
    if !isKnown, feature.rawValue & ~lacking.bitwiseOr(feature.rawValue, ordering: .relaxed).oldValue != 0 {
      runtime?.noteLacking(feature, function)
      let names = feature.names.joined(separator: " or ")
      log(.debug, "asked for \(function), which this host does not offer (feature \(names))")
    }
    return Status.unsupported
  }

  /// Warns of fields that no longer describe the body. Logs only the first warning, the tenth, and so on.
  func warn(about fields: DerivedFields) {
    guard let warning = fields.warning else { return }
    let count = fieldCount.add(1, ordering: .relaxed).newValue
    var number = count
    while number % 10 == 0 { number /= 10 }
    if number == 1 { log(.warning, "\(warning)\(count > 1 ? "; \(count) times so far" : "")") }
  }

  /// Logs a line of the host about the plugin.
  func log(_ level: PluginLogEntry.Level, _ text: String) {
    write(level, "stage \"\(name)\" (plugin \(plugin), generation \(generation)) \(text)")
  }

  /// Writes a log line that the plugin logs, or that the host logs about the plugin. Line breaks in a text of the
  /// plugin are escaped, so that the text stays on one line.
  /// - Parameters:
  ///   - attributes: attributes of the line. The caller must have put each of their texts on one line.
  ///   - exchange: the exchange that the line is about.
  func write(
    _ level: PluginLogEntry.Level, _ message: String, _ attributes: AttributeList = AttributeList(),
    about exchange: PluginLogEntry.Subject? = nil
  ) {
    runtime?.log(
      PluginLogEntry(
        level: level, stage: name, plugin: plugin, generation: generation,
        message: PlainText.line(message, limitBytes: PluginText.lineBytes), attributes: attributes, subject: exchange))
  }
}
