/// The checkout that the running tests were built from.
package enum RepositoryRoot {
  /// The absolute path of the repository, without a slash at the end.
  package static let path: String = {
    let file = #filePath
    // Tests/Kit/SluiceTestKit/Files/<this file>
    return file.split(separator: "/").dropLast(5).map { "/\($0)" }.joined()
  }()

  /// The path of something in the repository.
  package static func path(_ relative: String) -> String { "\(path)/\(relative)" }
}
