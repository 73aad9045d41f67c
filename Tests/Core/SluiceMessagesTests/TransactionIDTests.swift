import SluiceMessages
import SluiceTestKit
import Testing

struct TransactionIDTests {
  @Test func `an id is spelled as a UUID in lower case`() {
    #expect(TransactionID(randomHigh: 0, randomLow: 0).description == "00000000-0000-4000-8000-000000000000")
    #expect(TransactionID(randomHigh: .max, randomLow: .max).description == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    #expect(
      TransactionID(randomHigh: 0x0123_4567_89AB_CDEF, randomLow: 0xFEDC_BA98_7654_3210).description
        == "01234567-89ab-4def-bedc-ba9876543210")
  }

  @Test func `every id carries version 4 and the variant of RFC 9562`() {
    var random = SeededRandom(seed: 5)
    var seen: Set<TransactionID> = []
    for _ in 0..<1000 {
      let id = TransactionID(using: &random)
      let text = Array(id.description)
      #expect(text.count == 36)
      #expect(text[14] == "4")
      #expect("89ab".contains(text[19]))
      #expect([8, 13, 18, 23].allSatisfy { text[$0] == "-" })
      seen.insert(id)
    }
    #expect(seen.count == 1000)
  }

  @Test func `all other bits of an id are the given random bits`() {
    let id = TransactionID(randomHigh: 0xFFFF_FFFF_FFFF_0FFF, randomLow: 0x3FFF_FFFF_FFFF_FFFF)
    #expect(id.high == 0xFFFF_FFFF_FFFF_4FFF)
    #expect(id.low == 0xBFFF_FFFF_FFFF_FFFF)
  }
}
