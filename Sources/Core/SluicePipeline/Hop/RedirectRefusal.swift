/// Why a redirect is not followed, although its response names a target.
package struct RedirectRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package let status: Int
  /// The values of `Location` in a form that can be shown: without user, password, query and fragment. There are two
  /// values if the response had two `Location` fields that differ.
  package let locations: [String]
  /// What is wrong with these values.
  package let reason: String

  init(_ status: Int, _ locations: [String], _ reason: String) {
    self.status = status
    self.locations = locations
    self.reason = reason
  }

  package var description: String {
    let shown = locations.map { "\"\($0)\"" }.joined(separator: " and ")
    return locations.count == 1
      ? "\(status) with the Location \(shown), which is not followed: \(reason)"
      : "\(status) with the Locations \(shown), which are not followed: \(reason)"
  }
}
