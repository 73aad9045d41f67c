import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The values of the variables of `-w` for one request.
struct WriteOutValues {
  private enum Value {
    /// Text, which need not be UTF-8. Empty text is null in JSON.
    case text([UInt8])
    case number(Int)
    /// The status of a response, which is printed with at least three digits.
    case status(Int)
    case seconds(Duration)

    static func text(_ text: String) -> Value { .text(Array(text.utf8)) }
  }

  let result: TransactionResult
  let hops: [HopMetrics]
  /// The position of the request's URL among the URLs of the command, counted from 0. Braces and brackets do not count.
  let urlNumber: Int
  /// The path to which the body was written; nil for standard output.
  let file: [UInt8]?
  let status: ExitStatus

  /// The names of all variables, sorted.
  static var names: [String] { variables.keys.sorted() }

  /// The value of a variable; empty if there is no variable of this name.
  func text(of name: String) -> [UInt8] {
    switch Self.variables[name]?(self) {
    case nil: []
    case .text(let text)?: text
    case .number(let number)?: Array("\(number)".utf8)
    case .status(let status)?: Array((String(repeating: "0", count: max(0, 3 - "\(status)".count)) + "\(status)").utf8)
    case .seconds(let duration)?: Array(Self.text(ofSeconds: duration).utf8)
    }
  }

  /// All variables as a JSON object. Its members are sorted by name.
  var json: [UInt8] {
    var text = JSONText()
    text.object { text in
      for (name, value) in Self.variables.sorted(by: { $0.key < $1.key }) {
        switch value(self) {
        case .text([]): text.value(name, json: "null")
        case .text(let value): text.text(name, String(decoding: value, as: UTF8.self))
        case .number(let number), .status(let number): text.number(name, number)
        case .seconds(let duration): text.value(name, json: Self.text(ofSeconds: duration))
        }
      }
    }
    return text.bytes
  }

  /// The header of the last response as a JSON object: for each name, in lower case, an array of its values.
  var headerJSON: [UInt8] {
    let fields = result.response?.headers ?? HeaderFields()
    var names: [String] = []
    for field in fields {
      let name = field.name.lowercased()
      if !names.contains(name) { names.append(name) }
    }
    var text = JSONText()
    text.object { text in
      for name in names {
        text.array(name) { text in
          for value in fields[bytes: name] { text.text(nil, String(decoding: value, as: UTF8.self)) }
        }
      }
    }
    return text.bytes
  }

  /// The first value of a field of the response, as it was received.
  func header(_ name: String) -> [UInt8] { result.response?.headers[bytes: name].first ?? [] }

  private var last: HopMetrics? { hops.last }
  private var timings: TransferTimings { last?.timings ?? TransferTimings() }
  /// The total duration of all hops before the last.
  private var earlier: Duration { hops.dropLast().reduce(.zero) { $0 + $1.timings.total } }
  private var lookup: Duration { timings.queue + timings.nameLookup }
  private var connect: Duration { lookup + timings.connect }
  private var handshake: Duration { connect + timings.tunnel + timings.tlsHandshake }
  private var firstByte: Duration { handshake + timings.send + timings.wait }

  /// Bytes of the body per second.
  private func speed(_ bytes: Int) -> Int {
    let seconds = result.duration.inSeconds
    return seconds > 0 ? Int(Double(bytes) / seconds) : 0
  }

  /// Seconds with six decimals.
  private static func text(ofSeconds duration: Duration) -> String {
    let micros = Int(duration / .microseconds(1))
    let fraction = String(micros % 1_000_000)
    return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }

  private static let variables: [String: @Sendable (WriteOutValues) -> Value] = [
    "http_code": { $0.code }, "response_code": { $0.code },
    "content_type": { .text($0.header("content-type")) }, "filename_effective": { .text($0.file ?? []) },
    "errormsg": { .text($0.result.error?.message ?? "") }, "exitcode": { .number(Int($0.status.code)) },
    "http_version": { .text($0.timings.version?.rawValue ?? "0") },
    "local_ip": { .text($0.last?.connection?.local?.host ?? "") },
    "local_port": { .number(Int($0.last?.connection?.local?.port ?? 0)) },
    "remote_ip": { .text($0.last?.connection?.peer?.host ?? "") },
    "remote_port": { .number(Int($0.last?.connection?.peer?.port ?? 0)) },
    "method": { .text($0.last?.method ?? $0.result.originalRequest.method) },
    "num_connects": { .number($0.hops.count { $0.connection != nil && !$0.timings.isConnectionReused }) },
    "num_retries": { .number(max(0, $0.result.attempts - 1)) },
    "num_redirects": { .number($0.hops.dropLast().count { (300..<400).contains($0.status ?? 0) }) },
    "scheme": { .text(($0.last?.url.origin.scheme.rawValue ?? "").uppercased()) },
    "size_download": { .number($0.timings.bytesReceived) }, "size_upload": { .number($0.timings.bytesSent) },
    "speed_download": { .number($0.speed($0.timings.bytesReceived)) },
    "speed_upload": { .number($0.speed($0.timings.bytesSent)) },
    "time_namelookup": { .seconds($0.lookup) }, "time_connect": { .seconds($0.connect) },
    "time_appconnect": { .seconds($0.timings.tlsHandshake > .zero ? $0.handshake : .zero) },
    "time_pretransfer": { .seconds($0.handshake) }, "time_starttransfer": { .seconds($0.firstByte) },
    "time_redirect": { .seconds($0.earlier) }, "time_total": { .seconds($0.result.duration) },
    "url": { .text($0.result.originalRequest.url.withoutUserInfo.string) },
    "url_effective": { .text($0.last.map { effective($0.url) } ?? "") }, "urlnum": { .number($0.urlNumber) },
    "redirect_url": { .text($0.redirect) },
  ]

  /// The URL as it was requested: with a path, and without the user and password of `-u`.
  private static func effective(_ url: HTTPURL) -> String {
    let text = url.withoutUserInfo.string
    return text == url.origin.description ? text + "/" : text
  }

  /// The target of a redirect that was not followed.
  private var redirect: String {
    guard let last, let status = result.response?.status, (300..<400).contains(status),
      let target = try? last.url.reference(header("location").span, hosts: .idna)
    else { return "" }
    return target.string
  }

  private var code: Value { .status(last?.status ?? result.response?.status ?? 0) }
}
