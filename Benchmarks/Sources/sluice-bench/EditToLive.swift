import CBareLoop
import Dispatch
import Glibc
import Sluice

/// The time from closing a library's file to the first response of the new build, through `sluice dev`. It includes the
/// wait until the file does not change any more, the trial in a child process, loading, publishing, and the request
/// itself.
///
/// Builds differ only in a number, which the plugin writes into the header `x-stamp`. The time is measured for a
/// library in C and for one in Swift.
struct EditToLive {
  static let name = "dev"
  private static let marker = Array("swap-generation:".utf8)

  private let plan: Plan
  private let engine: Engine

  init(_ plan: Plan) throws {
    self.plan = plan
    engine = try Engine(Configuration())
  }

  func report() async throws {
    let folder = try TemporaryFolder()
    try Self.compile("../Tests/Fixtures/Plugins/stamps-generation/plugin.c", to: "\(folder.path)/c.so")
    for (language, library) in [("C", "\(folder.path)/c.so"), ("Swift", "\(plan.plugins)/libswift-stamps.so")] {
      let bytes = try TemporaryFolder.read(library)
      let milliseconds = try await times(bytes, in: folder)
      print("\(language): \(Spread(milliseconds).text(digits: 0)) ms, \(plan.rounds) builds")
    }
  }

  private static func compile(_ source: String, to path: String) throws {
    let line = "cc -std=c11 -O2 -shared -fPIC -I ../include '\(source)' -o '\(path)' -ljansson"
    guard system(line) == 0 else { throw BenchmarkError("dev: \(line) failed; run it in Benchmarks/") }
  }

  private func times(_ bytes: [UInt8], in folder: TemporaryFolder) async throws -> [Double] {
    try folder.write(Self.build(1, of: bytes), to: "a.so")
    let configuration = """
      {"plugins": {"a": {"library": "a.so", "config": {"header": "x-stamp"}}}, "request": ["a"], "response": ["a"],
       "store": "store", "swap": {"probation": {"duration": "0s"}}, "transport": {"baseURL": "\(plan.url)"}}
      """
    try folder.write(Array(configuration.utf8), to: "sluice.json")
    let command = try DevCommand(sluice: "\(plan.plugins)/sluice", configuration: "\(folder.path)/sluice.json")
    defer { command.end() }
    let request = Request(url: try HTTPURL("http://\(command.address)/"))
    guard try await stamp(request) == 1 else { throw BenchmarkError("dev: the first build does not serve") }
    var milliseconds: [Double] = []
    for number in 2...plan.rounds + 1 {
      try folder.write(Self.build(number, of: bytes), to: "a.so")
      let start = bench_nanoseconds()
      while try await stamp(request) != number {
        guard bench_nanoseconds() - start < 30_000_000_000 else {
          throw BenchmarkError("dev: build \(number) is not live")
        }
      }
      milliseconds.append(Double(bench_nanoseconds() - start) / 1e6)
    }
    return milliseconds
  }

  private func stamp(_ request: Request) async throws -> Int? {
    try await engine.perform(request).headers["x-stamp"].flatMap { Int($0) }
  }

  private static func build(_ number: Int, of bytes: [UInt8]) throws -> [UInt8] {
    guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: marker) }) else {
      throw BenchmarkError("dev: the library does not contain the marker before the number")
    }
    let digits = String(number)
    var build = bytes
    let first = place + marker.count
    build.replaceSubrange(
      first..<first + 8, with: Array((String(repeating: "0", count: 8 - digits.count) + digits).utf8))
    return build
  }
}

/// A `sluice dev` process with an endpoint, which runs until ``end()``.
private final class DevCommand {
  /// Host and port of its endpoint.
  let address: String
  private let stream: UnsafeMutablePointer<FILE>
  private let process: pid_t
  private let isDrained = DispatchSemaphore(value: 0)

  init(sluice: String, configuration: String) throws {
    let line = "echo $$; exec '\(sluice)' dev -c '\(configuration)' --listen 0 --json 2>&1 </dev/null"
    guard let stream = popen(line, "r") else { throw BenchmarkError("dev: no process") }
    self.stream = stream
    guard let process = Self.line(of: stream).flatMap({ pid_t($0) }) else { throw BenchmarkError("dev: no process") }
    self.process = process
    address = try Self.address(in: stream)
    // `sluice dev` writes a line for every request, and would block if nobody read these lines.
    let (descriptor, isDrained) = (fileno(stream), self.isDrained)
    DispatchQueue.global().async {
      withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer in
        while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
      }
      isDrained.signal()
    }
  }

  /// Reads the address from the event `started`, which contains "listen":"127.0.0.1:8081".
  private static func address(in stream: UnsafeMutablePointer<FILE>) throws -> String {
    var last = ""
    while let line = line(of: stream) {
      let words = line.split(separator: "\"")
      if let key = words.firstIndex(of: "listen"), key + 2 < words.endIndex { return String(words[key + 2]) }
      last = line
    }
    throw BenchmarkError("dev: did not start: \(last)")
  }

  func end() {
    kill(process, SIGTERM)
    isDrained.wait()
    pclose(stream)
  }

  private static func line(of stream: UnsafeMutablePointer<FILE>) -> String? {
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    guard getline(&line, &capacity, stream) > 0, let line else { return nil }
    return String(cString: line).split(separator: "\n").first.map(String.init)
  }
}
