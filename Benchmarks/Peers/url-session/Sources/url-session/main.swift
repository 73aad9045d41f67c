import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

// Foundation's URLSession as a peer of sluice-bench: sends the same requests from asynchronous functions through
// `URLSession.shared`, which opens at most six connections to a server.
//
// usage: url-session URL CONNECTIONS [NAME: VALUE]...
//
// Reads numbers from standard input, one per line. For each number, sends that many requests, and prints how many of
// them failed.

/// The state that all tasks of a round share.
final class Round: Sendable {
  private let running: Atomic<Int>
  private let failed = Atomic(0)
  private let done = DispatchSemaphore(value: 0)

  init(tasks: Int) { running = Atomic(tasks) }

  func finish(failed count: Int) {
    failed.add(count, ordering: .relaxed)
    if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }

  func wait() -> Int {
    done.wait()
    return failed.load(ordering: .relaxed)
  }
}

/// Returns how many of the calls failed.
@Sendable func make(_ count: Int, _ request: URLRequest) async -> Int {
  var failed = 0
  for _ in 0..<count {
    let answer = try? await URLSession.shared.data(for: request)
    if (answer?.1 as? HTTPURLResponse)?.statusCode != 200 { failed += 1 }
  }
  return failed
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let url = URL(string: arguments[1]), let connections = Int(arguments[2]), connections > 0
else {
  print("usage: url-session URL CONNECTIONS [NAME: VALUE]...")
  exit(2)
}
var prepared = URLRequest(url: url)
for line in arguments.dropFirst(3) {
  let parts = line.split(separator: ":", maxSplits: 1)
  prepared.setValue(String(parts.last ?? "").trimmingCharacters(in: .whitespaces), forHTTPHeaderField: String(parts[0]))
}
let request = prepared

while let line = readLine(), let count = Int(line) {
  let round = Round(tasks: connections)
  for index in 0..<connections {
    let share = count / connections + (index < count % connections ? 1 : 0)
    Task.detached { round.finish(failed: await make(share, request)) }
  }
  print(round.wait())
  fflush(nil)
}
