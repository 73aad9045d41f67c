import CMicrohttpd

/// Facts about libmicrohttpd, the library that this module uses.
public enum ServerLibrary {
  /// The version of the loaded libmicrohttpd.
  public static var version: String { MHD_get_version().map { String(cString: $0) } ?? "unknown" }

  /// The usual reason phrase of a status (RFC 9110 §15), such as `OK`; empty if the library does not know the status.
  package static func reason(of status: Int) -> String {
    guard let code = UInt32(exactly: status), MHD_get_reason_phrase_len_for(code) > 0,
      let text = MHD_get_reason_phrase_for(code)
    else { return "" }
    return String(cString: text)
  }
}
