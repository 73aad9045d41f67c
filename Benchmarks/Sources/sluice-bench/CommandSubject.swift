import CBareLoop
import Glibc

/// A command that reads its requests from a file: `sluice run`, from JSON lines to JSON lines, or `curl -Z`. Each round
/// is a separate process, whose start is part of the round.
final class CommandSubject: BenchmarkSubject {
  enum Command {
    case sluiceRun, curl
  }

  let name: String
  private let command: Command
  private let plan: Plan
  private let processor: Int
  private let folder: TemporaryFolder
  /// The number of requests in the input file.
  private var inputCount = 0
  private(set) var processorSeconds = 0.0
  /// Nil, because the kernel adds the memory of this program to the peak of a child that it starts.
  var peakMegabytes: Int? { nil }
  var allocations: UInt64? { nil }

  init(_ name: String, _ command: Command, _ plan: Plan, processor: Int) throws {
    self.name = name
    self.command = command
    self.plan = plan
    self.processor = processor
    folder = try TemporaryFolder()
  }

  func run(requests: Int) throws -> Int {
    if requests != inputCount { try writeInput(requests) }
    let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(output) }
    var used = 0.0
    var peak = 0
    let process = try ChildProcess.spawn(["taskset", "-c", "\(processor)"] + words, output: output)
    guard bench_wait(process, &used, &peak) else { throw BenchmarkError("\(name) failed") }
    processorSeconds += used
    return 0
  }

  private var input: String { "\(folder.path)/input" }

  /// Each of the commands ends with a status other than 0 if a request fails.
  private var words: [String] {
    switch command {
    case .sluiceRun:
      [
        "\(plan.plugins)/sluice", "run", "-q", "--concurrency", "\(plan.connections)", "-i", input, "-o",
        "\(folder.path)/results.jsonl",
      ]
    case .curl: ["curl", "-q", "-s", "-f", "-Z", "--parallel-max", "\(plan.connections)", "-K", input]
    }
  }

  private func writeInput(_ count: Int) throws {
    var text = command == .curl ? plan.headers.map { "header = \"\($0.name): \($0.value)\"\n" }.joined() : ""
    let headers = plan.headers.map { "\"\($0.name)\": \"\($0.value)\"" }.joined(separator: ", ")
    for number in 1...count {
      let url = "\(plan.url)?n=\(number)"
      switch command {
      case .sluiceRun: text += "{\"id\": \(number), \"url\": \"\(url)\", \"headers\": {\(headers)}}\n"
      case .curl: text += "url = \"\(url)\"\n"
      }
    }
    try folder.write(Array(text.utf8), to: "input")
    inputCount = count
  }
}
