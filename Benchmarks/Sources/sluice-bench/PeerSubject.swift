import CBareLoop
import Glibc

/// Another client, as a separate program that reads how many requests to send and writes how many failed. It keeps its
/// connections between rounds, as the other subjects do, and runs on one processor.
final class PeerSubject: BenchmarkSubject {
  let name: String
  private let process: pid_t
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  /// - Parameter options: the options of the program, which precede the URL.
  init(_ name: String, _ plan: Plan, program: String, options: [String], processor: Int) throws {
    self.name = name
    let authority = plan.certificateAuthority.map { ["--authority", $0] } ?? []
    let headers = plan.headers.map { "\($0.name): \($0.value)" }
    // Makes Go's runtime use one thread at a time.
    setenv("GOMAXPROCS", "1", 1)
    let (theirInput, ourEnd) = try Self.pipe()
    let (ourOutput, theirEnd) = try Self.pipe()
    process = try ChildProcess.spawn(
      ["taskset", "-c", "\(processor)", program] + options + authority + [plan.url, "\(plan.connections)"] + headers,
      input: theirInput, output: theirEnd)
    close(theirInput)
    close(theirEnd)
    guard let input = fdopen(ourEnd, "w"), let output = fdopen(ourOutput, "r") else {
      throw BenchmarkError("\(name): memory ran out while preparing its pipes")
    }
    self.input = input
    self.output = output
  }

  deinit {
    fclose(input)
    fclose(output)
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  func run(requests: Int) throws -> Int {
    fputs("\(requests)\n", input)
    fflush(input)
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, Int32(line.count), output) != nil else { throw BenchmarkError("\(name) has ended") }
    return Int(atol(line))
  }

  var processorSeconds: Double { bench_process_cpu_seconds(process) }
  var allocations: UInt64? { nil }

  var peakMegabytes: Int? {
    guard let file = fopen("/proc/\(process)/status", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      if strncmp(line, "VmHWM:", 6) == 0 { return Int(atol(Array(line.dropFirst(6)))) / 1024 }
    }
    return nil
  }

  /// The child closes both ends of each pipe when it executes a program.
  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw BenchmarkError("no descriptors for a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
