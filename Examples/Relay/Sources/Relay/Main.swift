import Glibc
import Sluice
import SluiceServer

/// `Relay` serves until it is killed and says where; `Relay --baggage` reads and writes baggage, one line after the other.
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
    // Flushes, because standard output may be a file or a pipe that another program reads.
    fflush(nil)
    try await Task.sleep(for: .seconds(86400))
    server.stop()
  }
}
