import SluiceJSON

/// Identifies a typed line in the event of its request.
struct TypedLine: Sendable {
  /// The number that the supervisor has given the line. It is the `id` of a line that brings none.
  let number: JSONValue?
  /// The `id` of the request document.
  let given: JSONValue?

  /// Adds the number, by which the supervisor finds the line, and the given id. The supervisor replaces the number by
  /// the given id (``takeNumber(from:)``).
  func add(to document: JSONValue) {
    document["id"] = number
    document["givenId"] = given
  }

  /// Returns the number of the line, and leaves the `id` that the user sees. Nil for a request that came from a client.
  static func takeNumber(from document: JSONValue) -> Int64? {
    let number = document["id"]?.integer
    if let given = document["givenId"] { document["id"] = given }
    document.removeMember("givenId")
    return number
  }
}
