extension HTTPURL {
  /// The value of `Host` for this URL (RFC 9112 §3.2), in lower case.
  package var hostField: String { String(origin.description.drop { $0 != "/" }.drop { $0 == "/" }) }
}
