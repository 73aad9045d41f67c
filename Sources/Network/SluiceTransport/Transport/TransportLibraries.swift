import CNGHTTP2
import CTLS

/// The versions of the libraries that are loaded for connections.
package enum TransportLibraries {
  /// The version of OpenSSL.
  package static var tls: String { String(cString: sluice_tls_library_version()) }

  /// The version of nghttp2.
  package static var http2: String {
    nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "unknown"
  }
}
