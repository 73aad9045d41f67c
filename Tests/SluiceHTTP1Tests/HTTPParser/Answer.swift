import SluiceMessages

/// What a parser makes of the bytes of a connection, up to the end of the first final response, in terms that two parsers
/// share.
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
    /// The end of the connection.
    case connection
  }

  /// Complete heads: the informational ones, and the final one.
  var heads: [Head] = []
  var body: [UInt8] = []
  var trailers: [Field] = []
  /// nil while more bytes are expected.
  var end: End?
  /// Whether the connection can be used again; valid when there is an end.
  var keepsConnection = false
  /// Why the bytes are refused. The other members then describe only what came before.
  var refusal: String?
  /// Where http-parser was when it refused. For ours, where the last head begins that is not complete, or the body.
  var position = 0
  /// The positions after the pieces of data, each of which is a chunk. Not a part of the answer: for rules.
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

  /// Each byte as one character.
  static func text(of bytes: [UInt8]) -> String {
    String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
  }
}
