import Sluice
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A server that delays, redirects, refuses and hangs up. It has additional servers, which break off in the middle of a
/// response.
final class ChaosServer: Sendable {
  private let server: EmbeddedServer
  private let cutters: [ScriptedServer]

  init(seed: UInt64) throws {
    server = try EmbeddedServer { Self.answer($0, seed) }
    let scripts: [[ScriptStep]] = [
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Le"), .reset],
      [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .reset],
      [.reset], [.receiveHead],
    ]
    cutters = try scripts.map { try ScriptedServer([$0], keepsReceived: false) }
  }

  func stop() {
    server.stop()
    for cutter in cutters { cutter.stop() }
  }

  /// Returns request `number`, which goes to one of the servers or to an address without a server.
  func request(_ number: Int, _ seed: UInt64) throws -> Request {
    var dice = ChaosDice(seed, "/\(number)", "request")
    let base =
      switch dice.draw(0...19) {
      case 0: cutters[dice.draw(0...cutters.count - 1)].baseURL
      case 1: "http://127.0.0.1:1"
      default: server.baseURL
      }
    let body: Body =
      switch dice.draw(0...5) {
      case 0: .bytes([UInt8](repeating: 65, count: dice.draw(0...200_000)))
      case 1: .stream(BodyStream(byteCount: nil, read: Self.threePieces()))
      default: .empty
      }
    let method = body.isEmpty ? ["GET", "DELETE"][dice.draw(0...1)] : ["POST", "PUT"][dice.draw(0...1)]
    var request = Request(method: method, url: try HTTPURL("\(base)/\(number)"), body: body)
    if dice.draw(0...9) == 0 { request.timeout = .milliseconds(dice.draw(1...60)) }
    return request
  }

  private static func threePieces() -> @Sendable (Int) -> [UInt8]? {
    let left = Watched(3)
    return { maximum in
      left.update { $0 -= 1 }
      return left.value < 0 ? nil : [UInt8](repeating: 66, count: min(1000, maximum))
    }
  }

  /// The path grows with each redirect, and the attempt number grows with each retry. Each request therefore gets
  /// another answer.
  private static func answer(_ request: ServerRequest, _ seed: UInt64) -> ServerResponse {
    let attempt = request.value(of: "x-attempt").flatMap { Int($0) } ?? 0
    var dice = ChaosDice(seed, request.path, "server", attempt)
    switch dice.draw(0...24) {
    case 0: return .hangUp
    case 1: return ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "0")])
    case 2: return ServerResponse(status: 429, headers: [HeaderLine("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT")])
    case 3: return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer realm=\"x\"")])
    case 4, 5: return ServerResponse(status: 302, headers: [HeaderLine("Location", "\(request.path)/r")])
    case 6: return ServerResponse(status: 307, headers: [HeaderLine("Location", "\(request.path)/r")])
    case 7: return ServerResponse(status: 301, headers: [HeaderLine("Location", "http://127.0.0.1:1/")])
    case 8, 9:
      let delay = dice.draw(0...8)
      return .deferred { response in
        Task {
          try? await Task.sleep(for: .milliseconds(delay))
          _ = response.complete(with: .text("late"))
        }
      }
    case 10: return .text(String(repeating: "x", count: dice.draw(0...300_000)))
    default: return .text("ok")
    }
  }
}
