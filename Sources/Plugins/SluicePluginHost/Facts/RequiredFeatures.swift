/// The features of the host that a library requires: one section `.sluice.requires.NAME` for each (`note.h`).
///
/// Names that this host does not know are kept, because a newer host might have them.
public struct RequiredFeatures: Sendable, Hashable {
  /// The names of the features in alphabetical order, each once.
  public let names: [String]

  /// No required features.
  public static let none = RequiredFeatures(names: [])

  package init(names: Set<String>) { self.names = names.sorted() }

  /// The required features that these headers know.
  package var features: HostFeatures { HostFeatures(named: Set(names)) }

  /// The names that these headers do not know.
  var unknownNames: [String] { names.filter { !HostFeatures.all.names.contains($0) } }

  /// The required features that a host does not offer.
  func missing(from offered: HostFeatures) -> [String] {
    let offered = Set(offered.names)
    return names.filter { !offered.contains($0) }
  }
}
