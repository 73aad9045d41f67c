import CCurl
import SluiceMessages
import SluicePipeline

/// The libcurl of this machine.
enum CurlLibrary {
  /// The oldest version that has all used functions: 7.85 added `CURLOPT_PROTOCOLS_STR`, and 7.80 the pre-request
  /// callback.
  private static let oldest: UInt32 = 0x075500

  private static let started: Result<Void, TransportError> = {
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
      return .failure(TransportError(.resources, "libcurl cannot be initialized", isBeforeSending: true))
    }
    guard let version = sluice_curl_version() else {
      return .failure(TransportError(.resources, "libcurl reports no version", isBeforeSending: true))
    }
    let name = version.pointee.version.map { String(cString: $0) } ?? "unknown"
    guard version.pointee.version_num >= oldest else {
      return .failure(
        TransportError(
          .resources, "libcurl \(name) is too old: 7.85.0 or newer is needed; upgrade the package libcurl4",
          isBeforeSending: true))
    }
    guard version.pointee.features & CURL_VERSION_SSL != 0 else {
      return .failure(
        TransportError(
          .resources, "libcurl \(name) was built without TLS; install the package libcurl4", isBeforeSending: true))
    }
    return .success(())
  }()

  /// Starts the library once for the process and checks that it has the features that Sluice needs.
  static func start() throws(TransportError) { try started.get() }

  /// Whether libcurl must not see a head whose first header line begins with a space. Before 8.1.0, libcurl took such a
  /// line for a continuation of the last header of the handle's previous response, and wrote to its memory, which was
  /// already freed.
  static let foldsIntoFreedHeaders: Bool = (sluice_curl_version()?.pointee.version_num ?? 0) < 0x080100

  /// The certificates that libcurl trusts by default. They are stored, because libcurl builds the answer again for each
  /// call.
  nonisolated(unsafe) static let authorities: (folder: UnsafePointer<CChar>?, file: UnsafePointer<CChar>?) = {
    let version = sluice_curl_version()?.pointee
    return (version?.capath, version?.cainfo)
  }()

  static let speaksHTTP2: Bool = {
    guard let version = sluice_curl_version() else { return false }
    return version.pointee.features & CURL_VERSION_HTTP2 != 0
  }()
}
