import SluiceIDNA
import SluiceMessages
import SluicePipeline

/// The text that `-w` prints at the end, with `%{VARIABLE}`, `%header{NAME}`, `%%`, `\n`, `\r` and
/// `\t` as with curl.
struct WriteOut {
  private enum Part {
    case text(String)
    case variable(String)
    case header(String)
    /// The parts after this one are written to this stream.
    case stream(isError: Bool)
    /// The parts after this one are written only if the request failed.
    case onError
  }

  private var parts: [Part] = []

  /// Returns nil without `-w`.
  ///
  /// - Throws: if the format has an unknown variable, or its file cannot be read.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> WriteOut? {
    guard let format = arguments["write-out"] else { return nil }
    guard format.hasPrefix("@") else { return try WriteOut(format) }
    let content = try DataReader(limitBytes: 1 << 20).content(ofFile: String(format.dropFirst()), "-w")
    // As with curl, line ends in the file are not part of the format.
    return try WriteOut(String(decoding: content.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self))
  }

  init(_ format: String) throws(CommandError) {
    var rest = Substring(format)
    while let character = rest.popFirst() {
      switch character {
      case "%": try readVariable(&rest)
      case "\\": readEscape(&rest)
      default: append(String(character))
      }
    }
  }

  private mutating func append(_ text: String) {
    if case .text(let earlier)? = parts.last {
      parts[parts.count - 1] = .text(earlier + text)
    } else {
      parts.append(.text(text))
    }
  }

  private mutating func readEscape(_ rest: inout Substring) {
    switch rest.popFirst() {
    case "n": append("\n")
    case "r": append("\r")
    case "t": append("\t")
    case let other?: append("\\\(other)")
    case nil: append("\\")
    }
  }

  private mutating func readVariable(_ rest: inout Substring) throws(CommandError) {
    if rest.hasPrefix("%") {
      rest.removeFirst()
      return append("%")
    }
    let isHeader = rest.hasPrefix("header{")
    let start = isHeader ? rest.dropFirst(6) : rest
    guard start.first == "{", let end = start.firstIndex(of: "}") else { return append("%") }
    let name = String(start[start.index(after: start.startIndex)..<end])
    rest = start[start.index(after: end)...]
    switch name {
    case _ where isHeader: parts.append(.header(name))
    case "stdout": parts.append(.stream(isError: false))
    case "stderr": parts.append(.stream(isError: true))
    case "onerror": parts.append(.onError)
    case _ where Self.variables[name] != nil: parts.append(.variable(name))
    default:
      let hint = Suggestion.nearest(to: name, among: Self.variables.keys.sorted()).map { "; did you mean %{\($0)}?" }
      throw CommandError(.usage, "send: -w: unknown variable \(PlainText.quote(name))\(hint ?? "")")
    }
  }

  /// - Parameter file: the path to which the body was written.
  func write(
    _ result: TransactionResult, _ hops: [HopMetrics], file: String?, _ status: ExitStatus
  ) throws(CommandError) {
    let outcome = Outcome(result: result, hops: hops, file: file, status: status)
    var text = ""
    var isError = false
    func flush() throws(CommandError) {
      if isError { StandardError.write(text) } else { try StandardOutput.write(text) }
      text = ""
    }
    for part in parts {
      switch part {
      case .text(let plain): text += plain
      case .variable(let name): text += Self.variables[name]?(outcome) ?? ""
      case .header(let name): text += result.response?.headers[name] ?? ""
      case .stream(let toError):
        try flush()
        isError = toError
      case .onError: if status == .succeeded { return try flush() }
      }
    }
    try flush()
  }

  private struct Outcome {
    let result: TransactionResult
    let hops: [HopMetrics]
    let file: String?
    let status: ExitStatus

    var last: HopMetrics? { hops.last }
    var timings: TransferTimings { last?.timings ?? TransferTimings() }
    /// The total duration of all hops before the last.
    var earlier: Duration { hops.dropLast().reduce(.zero) { $0 + $1.timings.total } }
    var lookup: Duration { timings.queue + timings.nameLookup }
    var connect: Duration { lookup + timings.connect }
    var handshake: Duration { connect + timings.tlsHandshake }
    var firstByte: Duration { handshake + timings.send + timings.wait }

    /// Bytes of the body per second.
    func speed(_ bytes: Int) -> String {
      let seconds = result.duration.inSeconds
      return "\(seconds > 0 ? Int(Double(bytes) / seconds) : 0)"
    }
  }

  private static func seconds(_ duration: Duration) -> String {
    let micros = Int(duration / .microseconds(1))
    let fraction = String(micros % 1_000_000)
    return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }

  private static let variables: [String: @Sendable (Outcome) -> String] = [
    "http_code": { code($0) }, "response_code": { code($0) },
    "content_type": { $0.result.response?.headers["content-type"] ?? "" },
    "errormsg": { $0.result.error?.message ?? "" }, "exitcode": { "\($0.status.code)" },
    "filename_effective": { $0.file ?? "" },
    "http_version": { $0.timings.version?.rawValue ?? "0" },
    "local_ip": { $0.last?.connection?.local?.host ?? "" },
    "local_port": { "\($0.last?.connection?.local?.port ?? 0)" },
    "remote_ip": { $0.last?.connection?.peer?.host ?? "" },
    "remote_port": { "\($0.last?.connection?.peer?.port ?? 0)" },
    "method": { $0.last?.method ?? $0.result.originalRequest.method },
    "num_connects": { "\($0.hops.count { $0.connection != nil && !$0.timings.isConnectionReused })" },
    "num_redirects": { "\($0.hops.dropLast().count { (300..<400).contains($0.status ?? 0) })" },
    "scheme": { ($0.last?.url.origin.scheme.rawValue ?? "").uppercased() },
    "size_download": { "\($0.timings.bytesReceived)" },
    "size_upload": { "\($0.timings.bytesSent)" },
    "speed_download": { $0.speed($0.timings.bytesReceived) },
    "speed_upload": { $0.speed($0.timings.bytesSent) },
    "time_namelookup": { seconds($0.lookup) }, "time_connect": { seconds($0.connect) },
    "time_appconnect": { seconds($0.timings.tlsHandshake > .zero ? $0.handshake : .zero) },
    "time_pretransfer": { seconds($0.handshake) }, "time_starttransfer": { seconds($0.firstByte) },
    "time_redirect": { seconds($0.earlier) }, "time_total": { seconds($0.result.duration) },
    "url": { $0.result.originalRequest.url.withoutUserInfo.string },
    "url_effective": { $0.last.map { effective($0.url) } ?? "" },
    "redirect_url": { redirect($0) },
  ]

  /// The URL as it was requested: with a path, and without the user and password of `-u`.
  private static func effective(_ url: HTTPURL) -> String {
    let text = url.withoutUserInfo.string
    return text == url.origin.description ? text + "/" : text
  }

  /// The target of a redirect that was not followed.
  private static func redirect(_ outcome: Outcome) -> String {
    guard let last = outcome.last, let response = outcome.result.response, (300..<400).contains(response.status),
      let location = response.headers["location"],
      let target = try? RelativeReference.resolve(location, against: last.url, hosts: .idna)
    else { return "" }
    return target.string
  }

  private static func code(_ outcome: Outcome) -> String {
    let status = "\(outcome.last?.status ?? outcome.result.response?.status ?? 0)"
    return String(repeating: "0", count: max(0, 3 - status.count)) + status
  }
}
