import CSluice
import SluicePipeline
import SluiceSupport
import Synchronization

/// One metric of an instance, with its series.
///
/// The series are in a table that is at least twice as large as their limit. Series are never removed, so any thread
/// finds a series without a lock; adding a series takes the lock. The series for combinations beyond the limit exists
/// from the start.
final class PluginMetric: Sendable {
  /// The default bounds of a histogram: those that OpenTelemetry recommends for durations in seconds.
  static let defaultBounds = LatencySnapshot.openTelemetryBounds
  static let maximumLabelBytes = 1024
  /// The series that counts all combinations of values beyond the limit has this value for each label.
  static let overflow = "overflow"

  let definition: MetricDefinition
  private let slots: [Slot]
  /// The only series of a metric without labels, or the overflow series of a metric with labels.
  private let fixed: MetricSeries
  private let isOverflowing = Atomic<Bool>(false)
  private let isFull = Atomic<Bool>(false)
  private let count = Locked(0)

  private final class Slot: Sendable {
    let series = AtomicLazyReference<MetricSeries>()
  }

  init(_ definition: MetricDefinition) {
    self.definition = definition
    let labels = definition.labels.map { _ in Self.overflow }
    fixed = Self.series(definition, labels)
    let size = definition.labels.isEmpty ? 0 : Self.size(for: definition.seriesLimit)
    slots = (0..<size).map { _ in Slot() }
  }

  enum Answer { case recorded, invalid(String) }

  /// - Parameter labels: one value for each label name of the definition; NULL if the definition has no labels.
  func record(_ labels: UnsafePointer<sluice_text>?, _ value: Double) -> Answer {
    guard value.isFinite else { return .invalid("the value \(value) of \"\(definition.name)\"") }
    guard definition.kind != .counter || value >= 0 else {
      return .invalid("the negative amount \(value) for the counter \"\(definition.name)\"")
    }
    guard let series = series(labels) else { return .invalid("labels of \"\(definition.name)\" that are invalid") }
    switch definition.kind {
    case .counter: series.add(value)
    case .gauge: series.set(value)
    case .histogram: series.record(value, definition.bounds)
    }
    return .recorded
  }

  func snapshot(stage: String) -> PluginMetricSnapshot {
    var series = slots.compactMap { $0.series.load()?.snapshot }.sorted {
      $0.labels.lexicographicallyPrecedes($1.labels)
    }
    if definition.labels.isEmpty || isOverflowing.load(ordering: .relaxed) { series.append(fixed.snapshot) }
    return PluginMetricSnapshot(stage: stage, definition: definition, series: series)
  }

  /// Returns nil if a label is malformed.
  private func series(_ labels: UnsafePointer<sluice_text>?) -> MetricSeries? {
    if definition.labels.isEmpty { return fixed }
    guard let labels else { return nil }
    let texts = UnsafeBufferPointer(start: labels, count: definition.labels.count)
    var hasher = Hasher()
    for text in texts {
      guard let bytes = text.bytes, bytes.count <= Self.maximumLabelBytes else { return nil }
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    let start = hasher.finalize() & (slots.count - 1)
    // `isFull` is read before the search: once it is true, no series is added any more, so the search then finds every
    // series that will ever exist.
    let isFull = isFull.load(ordering: .acquiring)
    return find(texts, from: start) ?? make(texts, from: start, isFull: isFull)
  }

  private func find(_ texts: UnsafeBufferPointer<sluice_text>, from start: Int) -> MetricSeries? {
    var index = start
    // The table is never more than half full.
    while let series = slots[index].series.load() {
      if Self.isKey(series.key, of: texts) { return series }
      index = (index + 1) & (slots.count - 1)
    }
    return nil
  }

  private func make(_ texts: UnsafeBufferPointer<sluice_text>, from start: Int, isFull: Bool) -> MetricSeries? {
    var labels: [String] = []
    for text in texts {
      guard let bytes = text.bytes, let label = String(validating: bytes, as: UTF8.self) else { return nil }
      labels.append(label)
    }
    if isFull || labels == fixed.labels { return overflowing() }
    let series = count.withLock { count -> MetricSeries? in
      // Another thread might have added this series, or the last allowed series, in the meantime.
      if let series = find(texts, from: start) { return series }
      guard count < definition.seriesLimit else { return nil }
      count += 1
      let series = put(Self.series(definition, labels), from: start)
      if count == definition.seriesLimit { self.isFull.store(true, ordering: .releasing) }
      return series
    }
    return series ?? overflowing()
  }

  private func put(_ series: MetricSeries, from start: Int) -> MetricSeries {
    var index = start
    while slots[index].series.load() != nil { index = (index + 1) & (slots.count - 1) }
    return slots[index].series.storeIfNil(series)
  }

  private func overflowing() -> MetricSeries {
    if !isOverflowing.load(ordering: .relaxed) { isOverflowing.store(true, ordering: .relaxed) }
    return fixed
  }
}

// Keys.
extension PluginMetric {
  private static func series(_ definition: MetricDefinition, _ labels: [String]) -> MetricSeries {
    let key = labels.reduce(into: [UInt8]()) { key, label in
      key.append(UInt8(truncatingIfNeeded: label.utf8.count >> 8))
      key.append(UInt8(truncatingIfNeeded: label.utf8.count))
      key.append(contentsOf: label.utf8)
    }
    let bucketCount = definition.kind == .histogram ? definition.bounds.count + 1 : 0
    return MetricSeries(key: key, labels: labels, bucketCount: bucketCount)
  }

  private static func isKey(_ key: [UInt8], of texts: UnsafeBufferPointer<sluice_text>) -> Bool {
    key.withUnsafeBufferPointer { key in
      var rest = key[...]
      for text in texts {
        guard let bytes = text.bytes, rest.count >= 2 + bytes.count,
          Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1]) == bytes.count,
          rest.dropFirst(2).prefix(bytes.count).elementsEqual(bytes)
        else { return false }
        rest = rest.dropFirst(2 + bytes.count)
      }
      return rest.isEmpty
    }
  }

  /// A power of two, at least twice the limit.
  private static func size(for limit: Int) -> Int {
    var size = 4
    while size < 2 * limit { size *= 2 }
    return size
  }
}
