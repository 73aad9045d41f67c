import struct SluiceMessages.HTTPURL
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

  /// The part of the key that says which host the client has asked for, over which scheme. The fields of a gateway
  /// belong to it, because upstreams make links and redirects from them; a client must not change what others get.
  static func target(of request: StageRequest, _ clients: HostClients?) -> String {
    let isSecure = clients?.facts(of: request)?.isSecure
    let scheme = isSecure.map { $0 ? "https" : "http" } ?? "-"
    let named = request.headers["host"] ?? ""
    let host = (try? HTTPURL("\(scheme)://\(named)/"))?.origin.description ?? "\(scheme)://\(named.lowercased())"
    let told = ["x-forwarded-host", "x-forwarded-proto"].map {
      request.headers.values($0).joined(separator: ",").lowercased()
    }
    return ([" \(host)"] + told + [withoutNodes(request.headers.values("forwarded"))]).joined(separator: " ")
  }

  /// `Forwarded` without the parameters that say who has sent the request (RFC 7239 §5.1, §5.2). Something that looks
  /// like a separator inside of quotes only makes another key.
  private static func withoutNodes(_ values: [String]) -> String {
    values.joined(separator: ",").lowercased().split { $0 == ";" || $0 == "," }
      .map { $0.drop { $0 == " " || $0 == "\t" } }
      .filter { !$0.hasPrefix("for=") && !$0.hasPrefix("by=") }.joined(separator: ";")
  }
}
