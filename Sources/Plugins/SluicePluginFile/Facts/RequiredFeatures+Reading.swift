import SluiceMessages
import SluicePluginHost

extension RequiredFeatures {
  static let prefix = ".sluice.requires."
  static let limit = 64
  static let nameLimitBytes = 64

  /// - Parameter sections: the names of all sections of a file, which nobody has checked.
  init(sections: some Sequence<String>) throws(PluginNote.Malformed) {
    var names: Set<String> = []
    for section in sections where section.hasPrefix(Self.prefix) {
      let name = section.dropFirst(Self.prefix.count)
      guard (1...Self.nameLimitBytes).contains(name.utf8.count), name.utf8.allSatisfy(\.isFeatureNameByte) else {
        throw PluginNote.Malformed(
          reason: "its section \(PlainText.quote(section)) names no feature of a host: up to \(Self.nameLimitBytes) "
            + "lower-case letters, digits and '_' are allowed")
      }
      names.insert(String(name))
      guard names.count <= Self.limit else {
        throw PluginNote.Malformed(reason: "it has more than \(Self.limit) sections \(Self.prefix)…")
      }
    }
    self.init(names: names)
  }
}

extension UInt8 {
  fileprivate var isFeatureNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
