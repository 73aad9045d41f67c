import Sluice
import SluiceMessages

/// Hides secrets in what is shown: credentials, cookies, signed query parameters, and what `redact` names.
struct SecretMask: Sendable {
  private static let headers = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-amz-security-token",
    "authentication-info", "proxy-authentication-info",
  ]
  /// Those of OpenTelemetry's `url.full`.
  private static let parameters = [
    "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "AWSAccessKeyId", "Signature", "sig",
    "X-Goog-Signature",
  ]

  private let headers: [String]
  private let parameters: [String]

  init(_ redaction: Redaction) {
    headers = Self.headers + redaction.headers
    parameters = Self.parameters + redaction.query
  }

  func lines(_ fields: HeaderFields) -> [String] {
    fields.indices.map { index in
      let name = fields.name(at: index)
      let isSecret = headers.contains(name.lowercased()) || fields.marks(at: index).contains(.sensitive)
      return "\(name): \(isSecret ? "REDACTED" : PrintableText.of(fields.value(at: index)))"
    }
  }

  /// Path and query.
  func target(_ url: HTTPURL) -> String {
    guard let query = url.query else { return url.path }
    let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      let name = pair.prefix { $0 != "=" }
      return parameters.contains { $0 == name } && name.count < pair.count ? "\(name)=REDACTED" : String(pair)
    }
    return "\(url.path)?\(pairs.joined(separator: "&"))"
  }
}
