import SluiceMessages

/// Which origins get which headers of the stage. Only a parsed origin is compared, never the text of a URL.
struct HostList: Sendable {
  struct Entry: Sendable {
    let pattern: HostPattern
    let kinds: HeaderKinds
  }

  /// A host that gets no headers, even if an entry matches it.
  struct Exclusion: Sendable {
    let pattern: HostPattern
    /// The source of the exclusion: a key of the configuration or an environment variable.
    let source: String
  }

  /// Whether an origin is in the list, and which part of the list decided that.
  enum Place: Sendable, Hashable {
    /// The position of an entry; the first matching entry decides.
    case entry(Int)
    /// The origin is equal to the ``origin`` of the list.
    case base
    case excluded(Int)
    case unlisted
  }

  let entries: [Entry]
  /// Exactly one origin, including scheme and port; it gets all kinds.
  let origin: Origin?
  let exclusions: [Exclusion]
  /// Exclusions, origin and entries, in the order in which they are compared.
  private let patterns: HostPatternList

  init(entries: [Entry] = [], origin: Origin? = nil, exclusions: [Exclusion] = []) {
    self.entries = entries
    self.origin = origin
    self.exclusions = exclusions
    var patterns = HostPatternList()
    for exclusion in exclusions { patterns.append(exclusion.pattern) }
    if let origin { patterns.append(origin) }
    for entry in entries { patterns.append(entry.pattern) }
    self.patterns = patterns
  }

  func place(of url: borrowing HTTPURL) -> Place {
    guard let index = patterns.firstIndex(matching: url) else { return .unlisted }
    guard index >= exclusions.count else { return .excluded(index) }
    let position = index - exclusions.count
    guard origin != nil else { return .entry(position) }
    return position == 0 ? .base : .entry(position - 1)
  }

  func kinds(at place: Place) -> HeaderKinds {
    switch place {
    case .entry(let index): entries[index].kinds
    case .base: .all
    case .excluded, .unlisted: []
    }
  }
}
