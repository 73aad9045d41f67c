import CCurl

/// The libraries that this module uses.
package enum TransportLibraries {
  /// The version of the libcurl that is loaded, and the TLS and HTTP/2 libraries that it uses.
  package static var curl: String {
    guard let info = sluice_curl_version()?.pointee else { return "unknown" }
    let version = info.version.map { String(cString: $0) }
    let tls = info.ssl_version.map { String(cString: $0) }
    let http2 = info.nghttp2_version.map { "nghttp2/" + String(cString: $0) }
    return [version, tls, http2].compactMap(\.self).joined(separator: " ")
  }
}
