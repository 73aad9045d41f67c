import Glibc
import Sluice
import SluiceServer

/// `Relay` prints its address and serves until it is killed. `Relay --baggage` reads and writes baggage, line by line.
@main
struct Main {
  static func main() async throws {
    if CommandLine.arguments.dropFirst() == ["--baggage"] { return BaggageLines.answer() }
    let relay = try Relay()
    let server = try EmbeddedServer { request in
      .deferred { answer in
        Task { answer.complete(with: await relay.respond(to: request)) }
      }
    }
    print(server.baseURL)
    // The output is flushed explicitly, because standard output can be a file or a pipe that another program reads.
    fflush(nil)
    try await Task.sleep(for: .seconds(86400))
    server.stop()
  }
}
