/// The checkout that the running tests were built from.
public enum RepositoryRoot {
  /// Absolute, without a slash at the end.
  public static let path: String = {
    let file = #filePath
    // Sources/SluiceTestKit/Files/<this file>
    return file.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
  }()

  /// The path of something in the repository.
  public static func path(_ relative: String) -> String { "\(path)/\(relative)" }
}
