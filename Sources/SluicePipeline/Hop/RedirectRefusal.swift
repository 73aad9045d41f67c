/// Why a redirect is not followed, although its response names a place to go to.
public struct RedirectRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  public let status: Int
  /// The values of `Location` as they may be shown: without user, password, query and fragment. Two where they differ.
  public let locations: [String]
  /// What is wrong with them.
  public let reason: String

  init(_ status: Int, _ locations: [String], _ reason: String) {
    self.status = status
    self.locations = locations
    self.reason = reason
  }

  public var description: String {
    let shown = locations.map { "\"\($0)\"" }.joined(separator: " and ")
    return locations.count == 1
      ? "\(status) with the Location \(shown), which is not followed: \(reason)"
      : "\(status) with the Locations \(shown), which are not followed: \(reason)"
  }
}
