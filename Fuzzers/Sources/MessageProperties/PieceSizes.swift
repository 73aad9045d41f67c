/// The sizes of the pieces in which an input arrives: mostly small, and always the same for the same input, so that a
/// finding can be repeated.
struct PieceSizes {
  private var state: UInt64

  init(for bytes: [UInt8]) {
    state = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let bits = Int(state >> 33)
    return bits & 7 == 0 ? 1 + bits >> 3 & 255 : 1 + bits >> 3 & 15
  }
}
