import CJSONSchema
import SluiceJSON

/// A regular expression of a schema, as ECMA 262 defines it, over code points.
///
/// `@unchecked Sendable`: the compiled pattern behind the pointer never changes.
final class SchemaPattern: @unchecked Sendable {
  let text: String
  private let compiled: OpaquePointer

  init(_ text: String) throws(JSONError) {
    let size = text.utf8.count
    guard size <= SchemaLimit.patternBytes else {
      throw .invalidSchema("a pattern of \(size) bytes, the limit is \(SchemaLimit.patternBytes)")
    }
    let points = text.unicodeScalars.map { wchar_t($0.value) }
    var message = [CChar](repeating: 0, count: 256)
    guard let compiled = sluice_pattern_compile(points, points.count, &message, message.count) else {
      let reason = message.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw .invalidSchema("pattern \"\(text)\" is not supported: \(reason)")
    }
    self.text = text
    self.compiled = compiled
  }

  deinit { sluice_pattern_free(compiled) }

  /// Whether the pattern matches anywhere in a text. Throws for a text beyond ``SchemaLimit/matchedBytes``.
  func matches(_ text: String, _ work: inout SchemaWork) throws(JSONError) -> Bool {
    let size = text.utf8.count
    guard size <= SchemaLimit.matchedBytes else {
      throw .schemaLimit("a text of \(size) bytes is too long for a pattern, the limit is \(SchemaLimit.matchedBytes)")
    }
    let points = text.unicodeScalars.map { wchar_t($0.value) }
    var comparisons = work.comparisonsLeft
    let result = sluice_pattern_matches(compiled, points, points.count, &comparisons)
    try work.spend(comparisons: work.comparisonsLeft - comparisons)
    guard result >= 0 else { throw .schemaLimit("there is not enough memory to match a pattern") }
    return result == 1
  }
}
