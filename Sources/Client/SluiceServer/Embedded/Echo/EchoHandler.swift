import SluiceJSON
import SluiceMessages

/// Answers each request with the request itself, as a request document (``RequestDocument``), status 200.
///
/// Some paths have another answer, or an additional effect:
///
/// | path | answer |
/// |---|---|
/// | `/status/503` | no body, with that status, 200 to 599 |
/// | `/delay/250ms` | the document after this delay (`ms`, `s`, `m`), up to 10 minutes; no thread waits |
/// | `/bytes/1048576` | that many bytes of repeated letters, up to 1 TiB; made while they are sent |
/// | `/headers?name=value&…` | the document, with these response headers |
/// | `/redirect-to?url=…` | 302 to that URL; `&status=307` for another status of 300 to 399 |
///
/// An invalid argument gets 400 and a line of text that says what was expected.
public struct EchoHandler: Sendable {
  private static let longestDelay = Duration.seconds(600)
  private static let mostBytes: UInt64 = 1 << 40

  /// The handler has no state, so one handler can serve several servers.
  public init() {}

  /// The handler to give to an ``EmbeddedServer``.
  public func respond(to request: ServerRequest) -> ServerResponse {
    let parts = request.path.split(separator: "/", maxSplits: 1)
    let argument = parts.count > 1 ? parts[1] : ""
    switch parts.first {
    case "status" where parts.count > 1: return status(argument)
    case "delay" where parts.count > 1: return delay(argument, request)
    case "bytes" where parts.count > 1: return bytes(argument)
    case "headers" where parts.count == 1: return headers(request)
    case "redirect-to" where parts.count == 1: return redirect(request)
    default: return echo(request)
    }
  }

  private func echo(_ request: ServerRequest, extra: [HeaderLine] = []) -> ServerResponse {
    do {
      let text = try EchoDocument.make(of: request).serialized(.indented) + [UInt8(ascii: "\n")]
      return ServerResponse(headers: [HeaderLine("Content-Type", "application/json")] + extra, body: .bytes(text))
    } catch {
      return .text("the request cannot be written as a document: \(error)\n", status: 500)
    }
  }

  private func status(_ text: Substring) -> ServerResponse {
    guard let status = Int(text), (200...599).contains(status) else {
      return refusal("/status/\(text)", expected: "a status from 200 to 599")
    }
    return ServerResponse(status: status)
  }

  private func delay(_ text: Substring, _ request: ServerRequest) -> ServerResponse {
    guard let delay = DurationText.duration(String(text)), delay <= Self.longestDelay else {
      return refusal("/delay/\(text)", expected: "a duration up to 600s, such as 250ms")
    }
    return .deferred { answer in
      Delay.run(after: delay) { answer.complete(with: echo(request)) }
    }
  }

  private func bytes(_ text: Substring) -> ServerResponse {
    guard let count = UInt64(text), count <= Self.mostBytes else {
      return refusal("/bytes/\(text)", expected: "a number of bytes up to \(Self.mostBytes)")
    }
    return ServerResponse(
      headers: [HeaderLine("Content-Type", "application/octet-stream")],
      body: .generated(.alphabet, byteCount: count, chunked: false))
  }

  private func headers(_ request: ServerRequest) -> ServerResponse {
    let items = QueryItems.parse(request.query ?? "")
    for item in items {
      do {
        try HeaderFields.check(name: item.name.utf8.span, value: item.value.utf8.span)
      } catch {
        return .text("/headers: \(error)\n", status: 400)
      }
    }
    return echo(request, extra: items.map { HeaderLine($0.name, $0.value) })
  }

  private func redirect(_ request: ServerRequest) -> ServerResponse {
    let items = QueryItems.parse(request.query ?? "")
    let status = items.last { $0.name == "status" }.map { Int($0.value) } ?? 302
    guard let target = items.last(where: { $0.name == "url" })?.value, !target.isEmpty else {
      return refusal("/redirect-to", expected: "?url= with the URL to redirect to")
    }
    guard let status, (300...399).contains(status) else {
      return refusal("/redirect-to", expected: "a status from 300 to 399")
    }
    guard (try? HeaderFields.check(name: "location".utf8.span, value: target.utf8.span)) != nil else {
      return refusal("/redirect-to", expected: "a URL without line breaks")
    }
    return ServerResponse(status: status, headers: [HeaderLine("Location", target)])
  }

  private func refusal(_ what: String, expected: String) -> ServerResponse {
    .text("\(what): expected \(expected)\n", status: 400)
  }
}
