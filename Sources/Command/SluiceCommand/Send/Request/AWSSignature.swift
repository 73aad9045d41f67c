import Glibc
import SluiceLoop
import SluiceMessages
import SluicePluginFile
import SluicePluginHost

/// Version 4 of AWS signatures ("Create a signed AWS API request"), with the names that curl's `--aws-sigv4` uses.
///
/// Signs the request that the command line describes. If a stage changes the URL, the host or the body of the request,
/// the signature becomes invalid.
struct AWSSignature {
  /// The provider's name, as it is written in the algorithm and in headers. The names are `aws` and `amz`, unless a
  /// provider other than AWS uses this signature.
  private let providers: (algorithm: String, header: String)
  private let region: String
  private let service: String
  private let user: [UInt8]
  private let secret: [UInt8]

  /// - Parameters:
  ///   - value: `PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]`. If region and service are not given, they are taken from
  ///     the host, `SERVICE.REGION.…`.
  ///   - credentials: `KEY-ID:SECRET`.
  init(_ value: String, host: String, credentials: [UInt8]) throws(CommandError) {
    let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let labels = SystemNames.isAddress(host) ? [] : host.split(separator: ".").map(String.init)
    guard (1...4).contains(parts.count), !parts.contains("") else {
      throw CommandError(
        .usage, "--aws-sigv4: expected PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]], found \(PlainText.quote(value))")
    }
    providers = (parts[0].lowercased(), (parts.count > 1 ? parts[1] : parts[0]).lowercased())
    guard let service = parts.count > 3 ? parts[3] : labels.first, labels.count > 2 || parts.count > 3,
      let region = parts.count > 2 ? parts[2] : labels.dropFirst().first
    else {
      throw CommandError(
        .usage,
        "--aws-sigv4: the host \(PlainText.quote(host)) does not say the service and the region, as SERVICE.REGION.… does;"
          + " give aws:amz:REGION:SERVICE")
    }
    (self.service, self.region) = (service, region)
    guard let colon = credentials.firstIndex(of: UInt8(ascii: ":")) else {
      throw CommandError(.usage, "--aws-sigv4 needs -u KEY-ID:SECRET")
    }
    (user, secret) = (Array(credentials[..<colon]), Array(credentials[(colon + 1)...]))
  }

  /// Adds the headers of the signature.
  ///
  /// - Parameters:
  ///   - body: the hash of the body in hexadecimal, or `UNSIGNED-PAYLOAD` where that is allowed.
  ///   - time: seconds since 1970.
  func sign(_ request: inout Request, bodyHash: String, time: Int) throws(CommandError) {
    let dateName = "x-\(providers.header)-date"
    let date = request.headers[dateName] ?? Self.timestamp(time)
    let hashName = "x-\(providers.header)-content-sha256"
    // A caller can name the hash, or say that the body is not signed.
    let bodyHash = request.headers[hashName] ?? bodyHash
    // Values need not be UTF-8, so the text to sign consists of bytes.
    let host = request.headers["host"] ?? request.url.hostField
    var fields = [("host", Array(host.utf8)), (dateName, Array(date.utf8))]
    if service == "s3" { fields.append((hashName, Array(bodyHash.utf8))) }
    let own = fields.map(\.0)
    for index in request.headers.indices {
      let name = request.headers.name(at: index).lowercased()
      guard name == "content-type" || name.hasPrefix("x-\(providers.header)-"), !own.contains(name) else { continue }
      let value = Self.collapsed(request.headers.buffer[request.headers.valueRange(at: index)])
      if let known = fields.firstIndex(where: { $0.0 == name }) {
        fields[known].1 += [UInt8(ascii: ",")] + value
      } else {
        fields.append((name, value))
      }
    }
    fields.sort { $0.0 < $1.0 }
    let names = fields.map(\.0).joined(separator: ";")
    var canonical = Array("\(request.method)\n\(path(request.url))\n\(Self.query(request.url))\n".utf8)
    for (name, value) in fields { canonical += Array("\(name):".utf8) + value + [UInt8(ascii: "\n")] }
    canonical += "\n\(names)\n\(bodyHash)".utf8
    let scope = [String(date.prefix(8)), region, service, "\(providers.algorithm)4_request"]
    let algorithm = "\(providers.algorithm.uppercased())4-HMAC-SHA256"
    let text = [algorithm, date, scope.joined(separator: "/"), try Self.hash(canonical)]
    let signature = ContentHash.hexadecimal(try key(scope).code(of: text.joined(separator: "\n")))
    for (name, value) in fields where own.contains(name) && name != "host" {
      request.headers.set(name.utf8.span, to: value.span)
    }
    let rest = "/\(scope.joined(separator: "/")), SignedHeaders=\(names), Signature=\(signature)"
    let value = Array("\(algorithm) Credential=".utf8) + user + rest.utf8
    request.headers.set("authorization".utf8.span, to: value.span)
  }

  /// The hash of a body; nil if the content is known only while it is sent.
  static func hash(of body: Body) throws(CommandError) -> String? {
    switch body {
    case .empty: return try hash([])
    case .bytes(let bytes): return try hash(bytes)
    case .file(let file): return try hash(try FileContent.read(file))
    case .stream: return nil
    }
  }

  /// Whether the service accepts a body without a hash.
  var takesUnsignedBody: Bool { service == "s3" }

  private static func hash(_ bytes: [UInt8]) throws(CommandError) -> String {
    guard let digest = ContentHash.digest(of: bytes) else { throw unavailable }
    return ContentHash.hexadecimal(digest)
  }

  private static var unavailable: CommandError {
    CommandError(.failed, "--aws-sigv4: libcrypto offers no SHA-256; check the policy of OpenSSL")
  }

  private func key(_ scope: [String]) throws(CommandError) -> MessageCode {
    var key = try MessageCode(key: Array("\(providers.algorithm.uppercased())4".utf8) + secret)
    for part in scope { key = try MessageCode(key: try key.code(of: part)) }
    return key
  }

  /// The path for the signature. Except for S3, empty and dot segments are removed, and percent signs are encoded once
  /// more.
  private func path(_ url: HTTPURL) -> String {
    guard service != "s3" else { return url.path }
    var segments: [String] = []
    for segment in url.path.split(separator: "/") where segment != "." {
      if segment == ".." { _ = segments.popLast() } else { segments.append(PercentCoding.encoded(String(segment))) }
    }
    let end = url.path.hasSuffix("/") && !segments.isEmpty ? "/" : ""
    return "/" + segments.joined(separator: "/") + end
  }

  /// The parameters, sorted by their encoded names and values.
  private static func query(_ url: HTTPURL) -> String {
    let parameters = (url.query ?? "").split(separator: "&").map { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return [parts[0], parts.count > 1 ? parts[1] : ""].map {
        PercentCoding.encoded(PercentCoding.decoded($0.utf8.span).span)
      }
    }
    return parameters.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }.map { "\($0[0])=\($0[1])" }.joined(separator: "&")
  }

  /// The value without spaces at its ends, and with each run of spaces inside replaced by one space.
  private static func collapsed(_ value: some Collection<UInt8>) -> [UInt8] {
    let words = value.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return Array(words.joined(separator: [UInt8(ascii: " ")]))
  }

  /// `20260131T235959Z`.
  static func timestamp(_ seconds: Int) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
    return "\(date)T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z"
  }

  /// HMAC with SHA-256 (RFC 2104).
  private struct MessageCode {
    private static let blockBytes = 64
    private let key: [UInt8]

    init(key: [UInt8]) throws(CommandError) {
      let short = key.count > Self.blockBytes ? ContentHash.digest(of: key) : key
      guard let short else { throw AWSSignature.unavailable }
      self.key = short + [UInt8](repeating: 0, count: Self.blockBytes - short.count)
    }

    func code(of text: String) throws(CommandError) -> [UInt8] {
      guard let inner = ContentHash.digest(of: key.map { $0 ^ 0x36 } + Array(text.utf8)),
        let outer = ContentHash.digest(of: key.map { $0 ^ 0x5C } + inner)
      else { throw AWSSignature.unavailable }
      return outer
    }
  }
}
