import SluicePipeline
import Testing

struct MessageHashTests {
  @Test func `SipHash agrees with the test vectors of its authors`() {
    // The test vectors of the reference implementation: the key is 00…0f, and the inputs 00, 01, … have growing
    // lengths.
    let key = MessageHash.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
    let expected: [(Int, UInt64)] = [
      (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (8, 0x93f5_f579_9a93_2462),
      (15, 0xa129_ca61_49be_45e5),
    ]
    for (count, value) in expected {
      var hash = MessageHash(key: key)
      hash.update((0..<count).map { UInt8($0) })
      #expect(hash.finish() == value, "\(count) bytes")
    }
  }

  @Test func `a text that is hashed in pieces has the same hash as in one piece`() {
    let bytes = (0..<100).map { UInt8($0) }
    var whole = MessageHash()
    whole.update(bytes)
    for cut in [0, 1, 7, 8, 9, 63, 100] {
      var pieces = MessageHash()
      pieces.update(bytes.prefix(cut))
      pieces.update(bytes.dropFirst(cut))
      #expect(pieces.finish() == whole.finish())
    }
  }
}
