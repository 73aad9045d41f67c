import SluiceIDNA
import SluiceMessages
import SluicePipeline

/// The text that `-w` prints at the end, with `%{VARIABLE}`, `%header{NAME}`, `%%`, `\n`, `\r` and
/// `\t` as with curl. The text and the headers are bytes, which need not be UTF-8.
struct WriteOut {
  private enum Part {
    case text([UInt8])
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
    guard let format = arguments.bytes("write-out") else { return nil }
    guard let path = try DataReader.path(ArgumentWord(format), "-w") else { return try WriteOut(format) }
    let content = try DataReader(limitBytes: 1 << 20).text(ofFile: path, "-w")
    // As with curl, line ends in the file are not part of the format.
    return try WriteOut(content.filter { $0 != 0x0A && $0 != 0x0D })
  }

  init(_ format: [UInt8]) throws(CommandError) {
    var rest = format[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"): try readVariable(&rest)
      case UInt8(ascii: "\\"): readEscape(&rest)
      default: append([byte])
      }
    }
  }

  private mutating func append(_ text: [UInt8]) {
    if case .text(let earlier)? = parts.last {
      parts[parts.count - 1] = .text(earlier + text)
    } else {
      parts.append(.text(text))
    }
  }

  private mutating func readEscape(_ rest: inout ArraySlice<UInt8>) {
    let backslash = UInt8(ascii: "\\")
    switch rest.popFirst() {
    case UInt8(ascii: "n"): append([0x0A])
    case UInt8(ascii: "r"): append([0x0D])
    case UInt8(ascii: "t"): append([0x09])
    case let other?: append([backslash, other])
    case nil: append([backslash])
    }
  }

  private mutating func readVariable(_ rest: inout ArraySlice<UInt8>) throws(CommandError) {
    let percent = UInt8(ascii: "%")
    if rest.first == percent {
      rest.removeFirst()
      return append([percent])
    }
    let isHeader = rest.starts(with: "header{".utf8)
    let start = isHeader ? rest.dropFirst(6) : rest
    guard start.first == UInt8(ascii: "{"), let end = start.firstIndex(of: UInt8(ascii: "}")) else {
      return append([percent])
    }
    let name = ArgumentWord(start[(start.startIndex + 1)..<end]).shown
    rest = start[(end + 1)...]
    switch name {
    case _ where isHeader: parts.append(.header(name))
    case "stdout": parts.append(.stream(isError: false))
    case "stderr": parts.append(.stream(isError: true))
    case "onerror": parts.append(.onError)
    case _ where Self.variables[name] != nil: parts.append(.variable(name))
    default:
      guard name != "json", name != "header_json" else {
        throw CommandError(
          .usage, "send: -w: %{\(name)} is not available; --document --metadata prints the result as JSON")
      }
      let hint = Suggestion.nearest(to: name, among: Self.variables.keys.sorted()).map { "; did you mean %{\($0)}?" }
      throw CommandError(.usage, "send: -w: unknown variable \(PlainText.quote(name))\(hint ?? "")")
    }
  }

  /// - Parameter file: the path to which the body was written.
  func write(
    _ result: TransactionResult, _ hops: [HopMetrics], file: [UInt8]?, _ status: ExitStatus
  ) throws(CommandError) {
    let outcome = Outcome(result: result, hops: hops, status: status)
    var text: [UInt8] = []
    var isError = false
    func flush() throws(CommandError) {
      if isError {
        StandardError.write(text)
      } else {
        try SendStatus.writing { () throws(CommandError) in try StandardOutput.write(text) }
      }
      text = []
    }
    for part in parts {
      switch part {
      case .text(let plain): text += plain
      case .variable("content_type"): text += outcome.header("content-type")
      case .variable("filename_effective"): text += file ?? []
      case .variable(let name): text += Self.variables[name].map { Array($0(outcome).utf8) } ?? []
      case .header(let name): text += outcome.header(name)
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
    let status: ExitStatus

    /// The first value of a field of the response, as it was received.
    func header(_ name: String) -> [UInt8] { result.response?.headers[bytes: name].first ?? [] }

    var last: HopMetrics? { hops.last }
    var timings: TransferTimings { last?.timings ?? TransferTimings() }
    /// The total duration of all hops before the last.
    var earlier: Duration { hops.dropLast().reduce(.zero) { $0 + $1.timings.total } }
    var lookup: Duration { timings.queue + timings.nameLookup }
    var connect: Duration { lookup + timings.connect }
    var handshake: Duration { connect + timings.tunnel + timings.tlsHandshake }
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
    // These two are bytes, which ``write(_:_:file:_:)`` adds.
    "content_type": { _ in "" }, "filename_effective": { _ in "" },
    "errormsg": { $0.result.error?.message ?? "" }, "exitcode": { "\($0.status.code)" },
    "http_version": { $0.timings.version?.rawValue ?? "0" },
    "local_ip": { $0.last?.connection?.local?.host ?? "" },
    "local_port": { "\($0.last?.connection?.local?.port ?? 0)" },
    "remote_ip": { $0.last?.connection?.peer?.host ?? "" },
    "remote_port": { "\($0.last?.connection?.peer?.port ?? 0)" },
    "method": { $0.last?.method ?? $0.result.originalRequest.method },
    "num_connects": { "\($0.hops.count { $0.connection != nil && !$0.timings.isConnectionReused })" },
    "num_retries": { "\(max(0, $0.result.attempts - 1))" },
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
    guard let last = outcome.last, let status = outcome.result.response?.status, (300..<400).contains(status),
      let target = try? last.url.reference(outcome.header("location").span, hosts: .idna)
    else { return "" }
    return target.string
  }

  private static func code(_ outcome: Outcome) -> String {
    let status = "\(outcome.last?.status ?? outcome.result.response?.status ?? 0)"
    return String(repeating: "0", count: max(0, 3 - status.count)) + status
  }
}
