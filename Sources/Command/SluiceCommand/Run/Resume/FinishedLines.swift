/// The lines of an input that have a result, each with a fingerprint of the result's id. Each line takes one byte.
struct FinishedLines: Sendable {
  private static let pageLines = 256

  /// The pages by number. The byte of a line without a result is 0. Pages are used because the line numbers come from a
  /// file: a wrong number must not cost memory for all lines before it.
  private var pages: [Int: [UInt8]] = [:]
  private(set) var count = 0
  /// The largest line number that has a result; 0 if no line has a result.
  private(set) var last = 0

  /// - Parameter line: counted from 1.
  /// - Returns: false if the line already had a result.
  mutating func insert(_ line: Int, id: IDFingerprint) -> Bool {
    let place = line % Self.pageLines
    let isNew = pages[line / Self.pageLines, default: Array(repeating: 0, count: Self.pageLines)].insert(id, at: place)
    guard isNew else { return false }
    count += 1
    last = max(last, line)
    return true
  }

  /// The fingerprint of the result's id; nil for a line without a result.
  subscript(line: Int) -> IDFingerprint? {
    pages[line / Self.pageLines].flatMap { IDFingerprint(rawValue: $0[line % Self.pageLines]) }
  }
}

extension [UInt8] {
  fileprivate mutating func insert(_ id: IDFingerprint, at place: Int) -> Bool {
    guard self[place] == 0 else { return false }
    self[place] = id.rawValue
    return true
  }
}

/// A hash of an id in one byte, which is never 0. Two different ids have the same hash in 1 of 254 cases. If the
/// results belong to another input, a difference is therefore noticed after a few lines.
struct IDFingerprint: Equatable, Sendable {
  let rawValue: UInt8

  /// The fingerprint for a line that could not be parsed. The id of such a line cannot be compared.
  static let ofUnreadLine = IDFingerprint(hash: 254)

  private init(hash: UInt64) { rawValue = UInt8(truncatingIfNeeded: hash) + 1 }

  /// Returns nil if the value is 0.
  init?(rawValue: UInt8) {
    guard rawValue > 0 else { return nil }
    self.rawValue = rawValue
  }

  /// - Parameter text: the id as JSON, as in a result line.
  init(of text: some Sequence<UInt8>) {
    // FNV-1a (RFC 9923).
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    self.init(hash: hash % 254)
  }
}
