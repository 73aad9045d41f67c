import struct SluiceMessages.HTTPURL
import struct SluiceMessages.HeaderFields
import SluicePlugin

/// The key of a stored response: its URL without user info and fragment, with a normalized origin (RFC 9110 §4.2.3).
enum CacheKey {
  static func of(_ url: HTTPURL) -> String {
    "\(url.origin)\(url.path)\(url.query.map { "?\($0)" } ?? "")"
  }

  /// The URL in a `Location` or `Content-Location`. Nil for another origin than that of the request, because a response
  /// may only invalidate URLs of its own origin (RFC 9111 §4.4).
  static func target(_ reference: [UInt8], from base: HTTPURL) -> HTTPURL? {
    guard let target = try? base.redirectTarget(reference.span), target.origin == base.origin else { return nil }
    return target
  }

  /// The part of the key that says which host the client has asked for, over which scheme.
  static func target(of request: StageRequest, _ client: ConnectionFacts?) -> String {
    let scheme = client?.isSecure.map { $0 ? "https" : "http" } ?? "-"
    let named = request.headers["host"] ?? ""
    let origin = (try? HTTPURL("\(scheme)://\(named)/"))?.origin.description
    return " " + (origin ?? "\(scheme)://\(named.lowercased())")
  }

  /// The name under which a response is selected by what else tells a service for whom it makes links. No field can have
  /// it.
  static let forwarding = ":forwarding"

  /// The name under which a response is selected by the certificate of the client.
  static let certificate = ":certificate"

  /// The fields from which services make links and redirects, and which choose another resource or method in some. A
  /// client must not change what others get. The addresses of clients do not belong to them.
  static func forwarding(_ headers: HeaderFields) -> String {
    var text = ""
    for (name, value) in headers {
      let name = name.lowercased().replacing("_", with: "-")
      switch name {
      case "x-forwarded-for": continue
      case "forwarded": text += "\(name):\(withoutNodes(value))\n"
      case "x-original-url", "x-rewrite-url", "x-http-method-override", "x-http-method", "x-method-override", "x-host":
        text += "\(name):\(value)\n"
      default: if name.hasPrefix("x-forwarded-") { text += "\(name):\(value)\n" }
      }
    }
    return text
  }

  /// `Forwarded` without the parameters that say who has sent the request (RFC 7239 §5.1, §5.2). Something that looks
  /// like a separator inside of quotes only makes another key.
  private static func withoutNodes(_ value: String) -> String {
    value.split { $0 == ";" || $0 == "," }.map { $0.drop { $0 == " " || $0 == "\t" } }
      .filter { !["for=", "by="].contains($0.prefix { $0 != "=" }.lowercased() + "=") }.joined(separator: ";")
  }
}
