/// Control sequences for terminals (ECMA-48), such as colours, cursor movements and titles.
enum EscapeSequences {
  static func removed(from text: String) -> String {
    guard text.utf8.contains(0x1B) else { return text }
    var rest = text.unicodeScalars[...]
    var kept = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      guard scalar == "\u{1B}" else {
        kept.append(scalar)
        continue
      }
      switch rest.popFirst() {
      // Parameters, then one final byte.
      case "[": while let next = rest.popFirst(), !(0x40...0x7E).contains(next.value) {}
      // A string, up to BEL or ESC \.
      case "]":
        while let next = rest.popFirst(), next != "\u{07}" {
          if next == "\u{1B}" {
            _ = rest.popFirst()
            break
          }
        }
      default: break
      }
    }
    return String(kept)
  }
}
