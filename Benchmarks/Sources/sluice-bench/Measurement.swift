import CBareLoop
import Glibc

/// The cost of one round.
struct Measurement {
  var requestsPerSecond: Double
  /// Processor time, user and system, per request.
  var cpuMicroseconds: Double
  /// Allocations per request; nil for a subject that is another program.
  var allocations: Double?

  static func of(_ subject: any BenchmarkSubject, requests: Int) throws -> Measurement {
    let allocations = subject.allocations
    let cpu = subject.processorSeconds
    let start = bench_nanoseconds()
    let failed = try subject.run(requests: requests)
    guard failed == 0 else { throw BenchmarkError("\(subject.name): \(failed) of \(requests) requests failed") }
    let seconds = Double(bench_nanoseconds() - start) / 1e9
    let used = subject.processorSeconds - cpu
    let made = subject.allocations.flatMap { now in allocations.map { Double(now - $0) } }
    return Measurement(
      requestsPerSecond: Double(requests) / seconds, cpuMicroseconds: used * 1e6 / Double(requests),
      allocations: made.map { $0 / Double(requests) })
  }
}

/// Median and range of the rounds' results.
struct Spread {
  let median: Double
  let lowest: Double
  let highest: Double

  init(_ values: [Double]) {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    lowest = sorted[0]
    highest = sorted[sorted.count - 1]
  }

  func text(digits: Int) -> String {
    "\(Self.round(median, digits)) (\(Self.round(lowest, digits))–\(Self.round(highest, digits)))"
  }

  static func round(_ value: Double, _ digits: Int) -> String {
    guard digits > 0 else { return String(Int(value.rounded())) }
    let scale = pow(10, Double(digits))
    let scaled = Int((value.magnitude * scale).rounded())
    let fraction = String(scaled % Int(scale))
    return (value < 0 && scaled > 0 ? "-" : "") + "\(scaled / Int(scale))."
      + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
