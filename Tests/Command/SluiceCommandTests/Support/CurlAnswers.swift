import SluiceServer
import SluiceTestKit

/// What the server answers to curl and to `send`.
struct CurlAnswers {
  /// The paths that were already requested.
  private let seen = Watched(Set<String>())

  func answer(_ request: ServerRequest) -> ServerResponse {
    let isFirst = seen.update { $0.insert(String(request.path)).inserted }
    switch request.path {
    case "/redirect": return Self.redirect(302, "/target")
    case "/permanent": return Self.redirect(308, "/target")
    case "/elsewhere":
      let host = request.headers.first("host") ?? ""
      return Self.redirect(302, "http://localhost:\(host.split(separator: ":").last ?? "")/there")
    case "/once-503" where isFirst, "/once-404" where isFirst:
      return .text("not yet\n", status: request.path.hasSuffix("503") ? 503 : 404)
    case "/named":
      return Self.text(headers: [HeaderLine("Content-Disposition", "attachment; filename=\"given name.txt\"")])
    case "/old": return Self.text(headers: [HeaderLine("Content-Disposition", "attachment; filename=old.txt")])
    case "/named-with-path":
      return Self.text(headers: [HeaderLine("Content-Disposition", "attachment; filename=\"../up/x.txt\"")])
    case "/cookie":
      return Self.text(headers: [
        HeaderLine("Set-Cookie", "set=1; Path=/"), HeaderLine("Set-Cookie", "kept=new; Max-Age=0"),
      ])
    case "/cookie-redirect":
      return ServerResponse(
        status: 302, headers: [HeaderLine("Location", "/target"), HeaderLine("Set-Cookie", "on-the-way=1; HttpOnly")])
    case "/range": return Self.part(request)
    case "/nothing-left": return ServerResponse(status: 416, headers: [HeaderLine("Content-Range", "bytes */5")])
    case "/digest" where request.headers.first("authorization") == nil:
      return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\"")])
    case let path where path.hasPrefix("/status/"):
      return ServerResponse(status: Int(path.dropFirst(8)) ?? 500, body: .bytes(Array("an answer\n".utf8)))
    default: return Self.text("answer to \(request.method) \(request.target)\n")
    }
  }

  private static func redirect(_ status: Int, _ target: String) -> ServerResponse {
    ServerResponse(status: status, headers: [HeaderLine("Location", target)])
  }

  private static func text(_ text: String = "an answer\n", headers: [HeaderLine] = []) -> ServerResponse {
    ServerResponse(
      headers: [HeaderLine("Content-Type", "text/plain"), HeaderLine("X-Mark", "m")] + headers,
      body: .bytes(Array(text.utf8)))
  }

  /// Returns a text, or the part of it that the request's Range field asks for.
  private static func part(_ request: ServerRequest) -> ServerResponse {
    let bytes = Array("answer in parts\n".utf8)
    guard let range = request.headers.first("range"), let start = Int(range.dropFirst(6).dropLast()) else {
      return ServerResponse(body: .bytes(bytes))
    }
    return ServerResponse(
      status: 206, headers: [HeaderLine("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")],
      body: .bytes(Array(bytes[start...])))
  }
}
