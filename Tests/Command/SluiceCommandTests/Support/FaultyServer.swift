import SluiceSupport
import SluiceTestKit
import SluiceTestServers

/// A server that fails three of ten requests, in eleven ways, and answers the other requests in six ways.
///
/// The answer depends only on the seed, the number in the path, and how often this number was requested. A run can
/// therefore be repeated.
final class FaultyServer: Sendable {
  enum Fault: CaseIterable {
    case closedBeforeHead, resetBeforeHead, resetInHead, resetInBody, truncatedBody, truncatedChunks, status500,
      status503
    case redirectLoop, twoLengths, closedKeptConnection
  }

  struct Counts: Sendable {
    var requests = 0
    /// Requests whose answer was chosen at random. The later requests of a redirect loop are not counted.
    var decisions = 0
    var faults: [Fault: Int] = [:]
    fileprivate var visits: [Int: UInt64] = [:]
  }

  private let server: ScriptedServer
  private let state = Locked(Counts())

  init(seed: UInt64) throws {
    server = try ScriptedServer { [state] head, _ in Self.answer(head, seed, state) }
  }

  var baseURL: String { server.baseURL }
  var counts: Counts { state.withLock { $0 } }

  func stop() { server.stop() }

  private static func answer(_ head: MessageHead, _ seed: UInt64, _ state: Locked<Counts>) -> [ScriptStep] {
    let parts = head.startLine.split(separator: " ")
    guard parts.count == 3 else { return [.close] }
    let path = parts[1].prefix { $0 != "?" }
    let number = Int(path.dropFirst().prefix { $0 != "/" }) ?? 0
    let isLoop = path.hasSuffix("/loop")
    var random = state.withLock { state in
      state.requests += 1
      if !isLoop { state.decisions += 1 }
      state.visits[number, default: 0] += 1
      return SeededRandom(seed: seed &+ UInt64(number) &* 1000 &+ (state.visits[number] ?? 0))
    }
    if isLoop { return redirect(307, to: "/\(number)") }
    guard Int.random(in: 0..<10, using: &random) < 3, let fault = Fault.allCases.randomElement(using: &random) else {
      return success(number, parts[0] != "HEAD", canRedirect: !path.hasSuffix("/there"), &random)
    }
    state.withLock { $0.faults[fault, default: 0] += 1 }
    return failure(fault, number, parts[0] != "HEAD")
  }

  private static func failure(_ fault: Fault, _ number: Int, _ hasBody: Bool) -> [ScriptStep] {
    let half = hasBody ? "half" : ""
    switch fault {
    case .closedBeforeHead: return [.close]
    case .resetBeforeHead: return [.reset]
    case .resetInHead: return [.send("HTTP/1.1 200 OK\r\nContent-Le"), .reset]
    case .resetInBody: return [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n\(half)"), .reset]
    case .truncatedBody: return [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n\(half)"), .close]
    case .truncatedChunks:
      return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(hasBody ? "8\r\nhalf" : "")"), .close]
    case .status500: return respond("500 Internal Server Error", "{}", hasBody)
    case .status503: return respond("503 Service Unavailable", "{}", hasBody, "Retry-After: 0\r\n")
    case .redirectLoop: return redirect(307, to: "/\(number)/loop")
    case .twoLengths: return [.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}"), .close]
    // The server does not announce the close, so the next request can already be on its way.
    case .closedKeptConnection: return respond("200 OK", "{}", hasBody) + [.close]
    }
  }

  private static func success(
    _ number: Int, _ hasBody: Bool, canRedirect: Bool, _ random: inout SeededRandom
  ) -> [ScriptStep] {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return [.send("HTTP/1.1 103 Early Hints\r\n\r\n")] + respond("200 OK", "{}", hasBody)
    case 1,
      2 where canRedirect:
      return redirect([301, 302, 303, 307, 308].randomElement(using: &random) ?? 302, to: "/\(number)/there")
    case 3: return respond("200 OK", "no document", hasBody)
    case 4: return [.send("HTTP/1.1 204 No Content\r\n\r\n")]
    case 5:
      return [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(hasBody ? "2\r\n{}\r\n0\r\n\r\n" : "")")]
    default: return respond("200 OK", "{}", hasBody)
    }
  }

  private static func respond(
    _ status: String, _ body: String, _ hasBody: Bool, _ more: String = ""
  ) -> [ScriptStep] {
    let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(more)\r\n"
    return [.send(head + (hasBody ? body : ""))]
  }

  private static func redirect(_ status: Int, to path: String) -> [ScriptStep] {
    [.send("HTTP/1.1 \(status) Elsewhere\r\nLocation: \(path)\r\nContent-Length: 0\r\n\r\n")]
  }
}
