import CBareLoop
import Glibc

/// `h2load`, a load generator in C++ from nghttp2. If the requests use HTTP/1.1, it runs with `--h1`. Each round is a
/// separate process; the cost of its start and its connections is measured separately and subtracted.
final class LoadToolSubject: BenchmarkSubject {
  let name: String
  private let plan: Plan
  private let processor: Int
  private(set) var processorSeconds = 0.0
  private(set) var peakMegabytes: Int? = 0
  var allocations: UInt64? { nil }

  init(_ name: String, _ plan: Plan, processor: Int) {
    self.name = name
    self.plan = plan
    self.processor = processor
  }

  func run(requests: Int) throws -> Int {
    // Every connection has to send at least one request.
    let start = try seconds(of: plan.connections)
    processorSeconds += try seconds(of: requests + plan.connections) - start
    return 0
  }

  /// Processor time, user and system, of a whole process.
  private func seconds(of requests: Int) throws -> Double {
    guard let output = tmpfile() else { throw BenchmarkError("no temporary file") }
    defer { fclose(output) }
    var words = ["taskset", "-c", "\(processor)", "h2load", "-t", "1"]
    if plan.usesHTTP2 {
      let streams = plan.streams ?? plan.connections
      words += ["-c", "\(max(1, plan.connections / streams))", "-m", "\(streams)"]
    } else {
      words += ["-c", "\(plan.connections)", "--h1"]
    }
    words += ["-n", "\(requests)"]
    for (name, value) in plan.headers { words += ["-H", "\(name): \(value)"] }
    words.append(plan.url)
    var used = 0.0
    var peak = 0
    guard bench_wait(try ChildProcess.spawn(words, output: fileno(output)), &used, &peak) else {
      throw BenchmarkError("h2load failed")
    }
    // h2load exits with 0 even if requests fail.
    guard Self.lines(of: output).contains(where: { $0.contains(" \(requests) succeeded,") }) else {
      throw BenchmarkError("h2load: not all of \(requests) requests succeeded")
    }
    peakMegabytes = max(peakMegabytes ?? 0, peak / 1024)
    return used
  }

  private static func lines(of file: UnsafeMutablePointer<FILE>) -> [String] {
    rewind(file)
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 1024)
    while fgets(&line, Int32(line.count), file) != nil {
      lines.append(String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return lines
  }
}
