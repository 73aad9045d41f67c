import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers

/// A mirror that can misbehave, for example stop in the middle of a file.
final class RawMirror: Sendable {
  enum Fault: Sendable {
    /// Sends this number of bytes of the body, and then nothing more, without closing.
    case stops(after: Int, reached: Signal)
    /// Sends this number of bytes of the body, and closes the connection.
    case cuts(after: Int)
    /// Sends these bytes instead of a response, and closes the connection.
    case sends([UInt8])
    /// Ignores the header Range.
    case sendsAll
    /// Responds to a Range with bytes that begin at this offset, which is not the requested one.
    case sendsFrom(Int)
  }

  private let server: ScriptedServer
  private let faults: Locked<[String: Fault]>
  private let ranges: Locked<[String]>

  init(_ releases: ReleaseServer) throws {
    let (faults, ranges, folder) = (Locked([String: Fault]()), Locked([String]()), releases.path(""))
    (self.faults, self.ranges) = (faults, ranges)
    server = try ScriptedServer { head, _ in
      let path = String(head.startLine.split(separator: " ").dropFirst().first?.dropFirst() ?? "")
      let range = head.headers.first { $0.name.lowercased() == "range" }?.value
      if let range { ranges.withLock { $0.append(range) } }
      return Self.answer(folder + path, range, faults.withLock { $0[path] })
    }
  }

  var url: String { server.baseURL }

  /// The values of Range in the requests so far.
  var requestedRanges: [String] { ranges.withLock { $0 } }

  func set(_ fault: Fault?, for path: String) { faults.withLock { $0[path] = fault } }

  private static func answer(_ path: String, _ range: String?, _ fault: Fault?) -> [ScriptStep] {
    if case .sends(let bytes) = fault { return [.send(bytes), .close] }
    guard let file = try? FileTree.read(path) else { return [.send("HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n")] }
    var first = Int(range?.dropFirst("bytes=".count).prefix { $0.isNumber } ?? "") ?? 0
    switch fault {
    case .sendsAll: first = 0
    case .sendsFrom(let other): first = other
    default: break
    }
    let body = Array(file.dropFirst(first))
    let status = first > 0 ? "206 Partial\r\nContent-Range: bytes \(first)-\(file.count - 1)/\(file.count)" : "200 OK"
    let head = ScriptStep.send("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\r\n")
    switch fault {
    case .stops(let count, let reached):
      return [head, .send(Array(body.prefix(count))), .signal(reached), .wait(Signal())]
    case .cuts(let count): return [head, .send(Array(body.prefix(count))), .close]
    default: return [head, .send(body)]
    }
  }
}
