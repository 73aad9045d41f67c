import SluiceMessages

/// Which origins may see which of our headers. Nothing but a parsed origin is looked at, never the text of a URL.
struct HostList: Sendable {
  struct Entry: Sendable {
    let pattern: HostPattern
    let kinds: HeaderKinds
  }

  /// Where nothing goes, whatever the entries say.
  struct Exclusion: Sendable {
    let pattern: HostPattern
    /// What excludes it: a key of the configuration or a variable.
    let source: String
  }

  /// Where an origin stands.
  enum Place: Sendable, Hashable {
    /// By its position; the first entry that matches decides.
    case entry(Int)
    /// It is ``origin``.
    case base
    case excluded(Int)
    case unlisted
  }

  var entries: [Entry] = []
  /// One origin exactly, scheme and port included; it gets all kinds.
  var origin: Origin?
  var exclusions: [Exclusion] = []

  func place(of origin: Origin) -> Place {
    // Through spans, which look at the patterns where they are: each copy of one counts references.
    let exclusions = self.exclusions.span
    for index in exclusions.indices where exclusions[index].pattern.matches(origin) { return .excluded(index) }
    if self.origin == origin { return .base }
    let entries = self.entries.span
    for index in entries.indices where entries[index].pattern.matches(origin) { return .entry(index) }
    return .unlisted
  }

  func kinds(at place: Place) -> HeaderKinds {
    switch place {
    case .entry(let index): entries[index].kinds
    case .base: .all
    case .excluded, .unlisted: []
    }
  }
}
