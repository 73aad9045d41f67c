/// The form in which the body of a response is read.
public enum PayloadForm: String, Sendable, Hashable, CaseIterable {
  /// One JSON text in UTF-8, whatever its media type.
  case json
  /// Text in the charset that the media type names; UTF-8 if it names none.
  case text
  /// Bytes.
  case raw
}
