import SluiceMessages

/// What a parser reads from the bytes of a connection, up to the end of the first final response. Both parsers' results
/// can be expressed in this type.
struct Answer: Equatable {
  struct Head: Equatable {
    let status: Int
    let isHTTP10: Bool
    let fields: [Field]
  }

  struct Field: Equatable {
    var name: [UInt8]
    var value: [UInt8]
  }

  enum End: Equatable {
    /// The position after the last byte of the response.
    case at(Int)
    /// The response ends when the connection ends.
    case connection
  }

  /// The complete heads: those of informational responses, and the final one.
  var heads: [Head] = []
  var body: [UInt8] = []
  var trailers: [Field] = []
  /// Nil if the parser expects more bytes.
  var end: End?
  /// Whether the connection can be used again. Valid only if `end` is not nil.
  var keepsConnection = false
  /// Why the parser refuses the bytes, or nil if it does not. After a refusal, the other members describe only the
  /// bytes before it.
  var refusal: String?
  /// For http-parser: the position at which it refused the bytes. For our parser: the beginning of the head that it has
  /// not read completely, or of the body.
  var position = 0
  /// The end position of each piece of data. In a chunked body, each piece is a chunk. Only ``DifferenceRule`` uses
  /// this member.
  var dataEnds: [Int] = []
}

extension Answer.Field {
  var lowercasedName: String { String(decoding: name, as: UTF8.self).lowercased() }
  var text: String { Answer.text(of: name) + ": " + Answer.text(of: value) }
}

extension Answer: CustomStringConvertible {
  /// For example `200 [X-A: 1] "hi", ends at 40, stays open`.
  var description: String {
    if let refusal { return "refused: \(refusal)" }
    var parts = heads.map { head in
      (["\(head.status)" + (head.isHTTP10 ? " HTTP/1.0" : "")] + head.fields.map { "[\($0.text)]" })
        .joined(separator: " ")
    }
    if !body.isEmpty { parts.append(Answer.text(of: body).debugDescription) }
    parts += trailers.map { "trailer [\($0.text)]" }
    switch end {
    case nil: parts.append("unfinished")
    case .at(let position): parts.append("ends at \(position), \(keepsConnection ? "stays open" : "closes")")
    case .connection: parts.append("ends with the connection")
    }
    return parts.joined(separator: ", ")
  }

  /// Returns a text with one character for each byte.
  static func text(of bytes: [UInt8]) -> String {
    String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
  }
}
