extension DifferenceRule {
  /// Rules for responses that only http-parser refuses.
  static let refusedByHTTPParser: [DifferenceRule] = [
    itRefuses(
      "refuses control characters in a value", "RFC 9110 §5.5: a reader may keep all but CR, LF and NUL",
      ["HPE_INVALID_HEADER_TOKEN"]
    ) { $0.refusedByte.map { ($0 < 0x20 && ![0, 0x0A, 0x0D].contains($0)) || $0 == 0x7F } ?? false },
    itRefuses(
      "refuses a length that is repeated", "RFC 9112 §6.3: equal values count once",
      ["HPE_UNEXPECTED_CONTENT_LENGTH", "HPE_INVALID_CONTENT_LENGTH"]
    ) {
      let lengths = $0.ended.ours.heads.last?.elements("content-length") ?? []
      return lengths.count > 1 && Set(lengths.map { Int($0) }).count == 1
    },
    itRefuses(
      "refuses the coding identity beside a length", "RFC 2616 §3.6: identity is no coding",
      ["HPE_UNEXPECTED_CONTENT_LENGTH"]
    ) {
      let codings = $0.ended.ours.heads.last?.elements("transfer-encoding") ?? []
      return !codings.isEmpty && codings.allSatisfy { $0 == "identity" }
    },
    itRefuses(
      "refuses a tab after a length", "RFC 9112 §5: optional whitespace is space or tab", ["HPE_INVALID_CONTENT_LENGTH"]
    ) { $0.refusedByte == 0x09 && $0.ended.ours.heads.last?.elements("content-length").count == 1 },
    itRefuses(
      "checks the length of a response that has no body",
      "RFC 9112 §6.3: such a response has no body, whatever the fields say",
      ["HPE_UNEXPECTED_CONTENT_LENGTH", "HPE_INVALID_CONTENT_LENGTH"]
    ) { $0.framesNoBody || $0.ended.framesNoBody },
    itRefuses(
      "checks a length in trailers", "RFC 9110 §6.5.1: trailers do not frame a message",
      ["HPE_UNEXPECTED_CONTENT_LENGTH", "HPE_INVALID_CONTENT_LENGTH"]
    ) { comparison in
      comparison.ours.heads.last?.elements("transfer-encoding").last == "chunked"
        && comparison.theirs.position > comparison.ours.position
        && Answer.text(of: Array(comparison.rest)).lowercased().contains("content-length")
    },
    itRefuses(
      "refuses a tab after the size of a chunk", "RFC 9112 §7.1.1: BWS is space or tab", ["HPE_INVALID_CHUNK_SIZE"]
    ) {
      $0.refusedByte == 0x09
    },
    itRefuses(
      "refuses an invalid byte before the rest of its line arrives",
      "none: our parser also refuses the line, when the line's end arrives",
      [
        "HPE_INVALID_HEADER_TOKEN", "HPE_INVALID_STATUS", "HPE_INVALID_VERSION", "HPE_INVALID_CONTENT_LENGTH",
        "HPE_UNEXPECTED_CONTENT_LENGTH",
      ]
    ) { $0.ours.end == nil && $0.ended.ours.refusal != nil },
  ]
}
