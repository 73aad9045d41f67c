/// Reads a list of challenges (RFC 9110 §11.2, §11.6.1), byte by byte and in one pass.
///
///     list      = [ challenge ] *( OWS "," OWS [ challenge ] )
///     challenge = token [ 1*SP ( token68 / [ param ] *( OWS "," OWS [ param ] ) ) ]
///     param     = token BWS "=" BWS ( token / quoted-string )
///
/// A comma separates parameters, and also challenges. If a token and a `=` follow a comma, they begin a parameter;
/// otherwise the comma is followed by a challenge.
struct ChallengeReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func list() -> [Challenge]? {
    var challenges: [Challenge] = []
    skipCommas()
    while position < bytes.count {
      guard challenges.count < Challenge.maximumCount else { return challenges }
      guard let challenge = challenge() else { return nil }
      challenges.append(challenge)
      skipCommas()
    }
    return challenges
  }

  private mutating func challenge() -> Challenge? {
    guard let scheme = token() else { return nil }
    guard position < bytes.count, bytes[position] == UInt8(ascii: " ") else {
      skipSpaces()
      guard isAtSeparator else { return nil }
      return Challenge(scheme: scheme, text: "", parameters: [], token68: nil)
    }
    skipSpaces()
    let start = position
    if let token68 = token68() {
      return Challenge(scheme: scheme, text: token68, parameters: [], token68: token68)
    }
    guard let (parameters, end) = parameters() else { return nil }
    return Challenge(scheme: scheme, text: text(start..<max(start, end)), parameters: parameters, token68: nil)
  }

  /// The parameters up to the next challenge, and the position after the last parameter.
  private mutating func parameters() -> ([Challenge.Parameter], Int)? {
    var parameters: [Challenge.Parameter] = []
    var end = position
    while true {
      let before = position
      skipCommas()
      guard let name = parameterName() else {
        // Accepts the end of the list, or the next challenge, which must follow a comma.
        guard position == bytes.count || position > before || parameters.isEmpty && isAtSeparator else { return nil }
        return (parameters, end)
      }
      guard parameters.isEmpty || position > before, let value = parameterValue() else { return nil }
      guard parameters.count < Challenge.maximumParameters,
        !parameters.contains(where: { $0.name.lowercased() == name.lowercased() })
      else { return nil }
      parameters.append(Challenge.Parameter(name, value))
      end = position
      skipSpaces()
      guard isAtSeparator else { return nil }
    }
  }

  /// Takes a token and the `=` after it; takes nothing if the token is a scheme.
  private mutating func parameterName() -> String? {
    let start = position
    guard let name = token() else { return nil }
    skipSpaces()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else {
      position = start
      return nil
    }
    position += 1
    skipSpaces()
    return name
  }

  private mutating func parameterValue() -> String? {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return token() }
    position += 1
    var value: [UInt8] = []
    while position < bytes.count {
      var byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        guard position < bytes.count else { return nil }
        byte = bytes[position]
        position += 1
      }
      guard byte == 0x09 || byte >= 0x20 && byte != 0x7F else { return nil }
      value.append(byte)
    }
    return nil
  }

  /// Takes a token68 that ends the challenge; takes nothing if it could be the name of a parameter.
  private mutating func token68() -> String? {
    let start = position
    var end = start
    while end < bytes.count, Self.isToken68(bytes[end]) { end += 1 }
    guard end > start else { return nil }
    while end < bytes.count, bytes[end] == UInt8(ascii: "=") { end += 1 }
    position = end
    skipSpaces()
    guard isAtSeparator else {
      position = start
      return nil
    }
    return text(start..<end)
  }

  private mutating func token() -> String? {
    let start = position
    while position < bytes.count, FieldSyntax.isToken(bytes.span.extracting(position..<position + 1)) { position += 1 }
    return position > start ? text(start..<position) : nil
  }

  private var isAtSeparator: Bool { position == bytes.count || bytes[position] == UInt8(ascii: ",") }

  private mutating func skipSpaces() {
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
  }

  private mutating func skipCommas() {
    while position < bytes.count, [0x20, 0x09, 0x2C].contains(bytes[position]) { position += 1 }
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private static func isToken68(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
