import Synchronization

/// The numbers of one metric for one combination of labels. Recording takes no lock and allocates nothing.
final class MetricSeries: Sendable {
  /// The label values as bytes: for each value its length, followed by its bytes.
  let key: [UInt8]
  let labels: [String]
  /// The value of a counter or a gauge, or the sum of a histogram.
  private let value = AtomicDouble()
  private let buckets: [Bucket]

  private final class Bucket: Sendable {
    let count = Atomic<UInt64>(0)
  }

  init(key: [UInt8], labels: [String], bucketCount: Int) {
    self.key = key
    self.labels = labels
    buckets = (0..<bucketCount).map { _ in Bucket() }
  }

  func add(_ amount: Double) { value.add(amount) }

  func set(_ value: Double) { self.value.set(value) }

  /// Counts a value in the first bucket whose bound is not below the value.
  func record(_ value: Double, _ bounds: [Double]) {
    var low = 0
    var high = bounds.count
    while low < high {
      let middle = (low + high) / 2
      if value <= bounds[middle] { high = middle } else { low = middle + 1 }
    }
    buckets[low].count.add(1, ordering: .relaxed)
    self.value.add(value)
  }

  var snapshot: PluginMetricSnapshot.Series {
    PluginMetricSnapshot.Series(
      labels: labels, value: value.value, counts: buckets.map { $0.count.load(ordering: .relaxed) })
  }
}
