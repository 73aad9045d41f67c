import SluiceJSON
import SluiceMessages

/// A name and a value, as the lists of an archive have them.
struct NamedValue: Hashable {
  let name: String
  let value: String

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension JSONText {
  /// Adds the member `headers`, or another list of pairs.
  mutating func pairs(_ key: String, _ pairs: some Sequence<NamedValue>) {
    array(key) { list in
      for pair in pairs {
        list.object { member in
          member.text("name", pair.name)
          member.text("value", pair.value)
        }
      }
    }
  }
}
