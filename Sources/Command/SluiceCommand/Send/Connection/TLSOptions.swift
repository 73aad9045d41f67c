import Sluice
import SluiceMessages
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// The options about certificates, keys, versions and ciphers.
enum TLSOptions {
  static func apply(_ arguments: ParsedArguments, to tls: inout TLSSettings) throws(CommandError) {
    if arguments.has("insecure") { tls.verify = false }
    if let authorities = arguments["cacert"] { tls.ca = SystemPath.of(authorities) }
    try applyCertificate(arguments, to: &tls)
    tls.versions = try versions(arguments)
    tls.ciphers.tls12 = arguments["ciphers"]
    tls.ciphers.tls13 = arguments["tls13-ciphers"]
    if let keys = arguments["pinnedpubkey"] { tls.keyHashes = try keyHashes(keys) }
  }

  private static func applyCertificate(_ arguments: ParsedArguments, to tls: inout TLSSettings) throws(CommandError) {
    guard let given = arguments["cert"] else {
      for name in ["key", "pass"] where arguments.has(name) {
        throw CommandError(.usage, "send: --\(name) needs --cert")
      }
      return
    }
    let (path, password) = split(given)
    tls.certificate = SystemPath.of(path)
    tls.key = arguments["key"].map(SystemPath.of)
    tls.password = arguments["pass"] ?? password
  }

  /// `FILE[:PASSWORD]`. A colon after a backslash is part of the file name.
  private static func split(_ value: String) -> (path: String, password: String?) {
    var (path, rest) = ("", Substring(value))
    while let character = rest.popFirst() {
      switch character {
      case "\\" where rest.first == ":" || rest.first == "\\": path.append(rest.removeFirst())
      case ":": return (path, String(rest))
      default: path.append(character)
      }
    }
    return (path, nil)
  }

  private static func versions(_ arguments: ParsedArguments) throws(CommandError) -> ClosedRange<TLSVersion> {
    var most = TLSVersion.tls13
    switch arguments["tls-max"] {
    case nil, "default", "1.3": break
    case "1.2": most = .tls12
    case let other?:
      throw CommandError(.usage, "send: --tls-max: expected 1.2 or 1.3, found \(PlainText.quote(other))")
    }
    let least = arguments.has("tlsv1.3") ? TLSVersion.tls13 : .tls12
    guard least <= most else { throw CommandError(.usage, "send: --tlsv1.3 and --tls-max 1.2 leave no version of TLS") }
    return least...most
  }

  /// One or more `sha256//BASE64`, separated by semicolons, or the file of a public key (PEM or DER).
  private static func keyHashes(_ value: String) throws(CommandError) -> Set<[UInt8]> {
    guard value.hasPrefix("sha256//") else { return [try keyHash(ofFile: value)] }
    var hashes: Set<[UInt8]> = []
    for part in value.split(separator: ";") {
      guard part.hasPrefix("sha256//"), let hash = Base64.decode(Array(part.utf8.dropFirst(8))), hash.count == 32 else {
        throw CommandError(
          .usage,
          "send: --pinnedpubkey: expected sha256// and the hash of a public key in base64, found"
            + " \(PlainText.quote(part))")
      }
      hashes.insert(hash)
    }
    return hashes
  }

  private static func keyHash(ofFile path: String) throws(CommandError) -> [UInt8] {
    let content = try DataReader(limitBytes: 1 << 20).content(ofFile: path, "--pinnedpubkey")
    let begin = "-----BEGIN PUBLIC KEY-----"
    let text = String(decoding: content, as: UTF8.self)
    var key = content
    if let start = text.firstRange(of: begin), let end = text.firstRange(of: "-----END PUBLIC KEY-----"),
      start.upperBound <= end.lowerBound
    {
      key = Base64.decode(text[start.upperBound..<end.lowerBound].utf8.filter { $0 > 0x20 }) ?? []
    }
    // A SubjectPublicKeyInfo is a SEQUENCE (RFC 5280 §4.1).
    guard key.first == 0x30, let hash = ContentHash.digest(of: key) else {
      throw CommandError(
        .usage, "send: --pinnedpubkey: \(PlainText.path(path)) is neither a public key (PEM or DER) nor sha256//HASH")
    }
    return hash
  }
}
