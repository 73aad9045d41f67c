extension HTTPURL {
  /// User and password of the URL with their percent-encoding undone; the password is empty where there is none.
  public var credentials: (user: [UInt8], password: [UInt8])? {
    guard let userInfo else { return nil }
    let bytes = Array(userInfo.utf8)
    let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    return (Self.decoded(bytes[..<colon]), Self.decoded(bytes[colon...].dropFirst()))
  }

  /// `user:password` as a URL takes it: everything that is not unreserved is percent-encoded (RFC 3986 §2.3, §3.2.1).
  public static func userInfo(user: String, password: String) -> String {
    encodedComponent(user) + ":" + encodedComponent(password)
  }

  static func encodedComponent(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// A `%` without two digits stands for itself.
  private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
        let low = rest.dropFirst().first.flatMap(digit)
      {
        output.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        output.append(byte)
      }
    }
    return output
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}
