import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct HexadecimalTests {
  @Test func `a written number is read back, and equals the standard library's text`() {
    var random = SeededRandom(seed: 41)
    for round in 0..<2000 {
      let number = round == 0 ? 0 : round == 1 ? .max : random.next() >> UInt64(round % 64)
      let digits = String(number, radix: 16)
      let text = String(repeating: "0", count: 16 - digits.utf8.count) + digits
      #expect(Hexadecimal.text(number) == text)
      #expect(Hexadecimal.number(text.utf8.span, 0..<16) == number)
    }
  }

  @Test(arguments: [1, 2, 7, 8, 9, 15, 16])
  func `any number of digits up to sixteen is read, at any position`(count: Int) {
    let text = "0123456789abcdef"
    for start in 0...(text.utf8.count - count) {
      let digits = text.utf8.dropFirst(start).prefix(count)
      let number = Hexadecimal.number(text.utf8.span, start..<start + count)
      #expect(number == UInt64(String(decoding: digits, as: UTF8.self), radix: 16))
    }
  }

  @Test func `a byte that is not a lower-case hexadecimal digit is refused at every position`() {
    for byte in UInt8.min...UInt8.max {
      let isDigit = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      for place in 0..<16 {
        var bytes = [UInt8](repeating: 0x30, count: 16)
        bytes[place] = byte
        #expect((Hexadecimal.number(bytes.span, 0..<16) != nil) == isDigit, "\(byte) at \(place)")
      }
    }
  }
}
