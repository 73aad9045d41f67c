import CBareLoop

/// A program or a part of Sluice that sends requests, and is compared with other subjects that do the same work.
protocol BenchmarkSubject: AnyObject {
  var name: String { get }

  /// Sends this many requests, with the concurrency of the plan, and returns when the last one has ended.
  /// - Returns: how many failed.
  func run(requests: Int) throws -> Int

  /// Processor time so far, user and system, of the process that sends the requests.
  var processorSeconds: Double { get }
  /// Allocations so far in this program; nil for a subject that is another program.
  var allocations: UInt64? { get }
  /// The largest resident memory of another program; nil for a subject that runs in this one.
  var peakMegabytes: Int? { get }
}

extension BenchmarkSubject {
  var processorSeconds: Double { bench_cpu_seconds() }
  var allocations: UInt64? { bench_allocations() }
  var peakMegabytes: Int? { nil }
}
