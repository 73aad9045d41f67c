import CBareLoop
import Glibc

/// The cost of one round.
struct Measurement {
  var requestsPerSecond: Double
  /// Processor time of this process, user and system, per request.
  var cpuMicroseconds: Double

  static func of(_ subject: any BenchmarkSubject, requests: Int) throws -> Measurement {
    let cpu = bench_cpu_seconds()
    let start = wallSeconds()
    let failed = try subject.run(requests: requests)
    guard failed == 0 else { throw BenchmarkError("\(subject.name): \(failed) of \(requests) requests failed") }
    return Measurement(
      requestsPerSecond: Double(requests) / (wallSeconds() - start),
      cpuMicroseconds: (bench_cpu_seconds() - cpu) * 1e6 / Double(requests))
  }

  private static func wallSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
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
    let whole = Int((value * scale).rounded())
    let fraction = String(whole % Int(scale))
    return "\(whole / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
