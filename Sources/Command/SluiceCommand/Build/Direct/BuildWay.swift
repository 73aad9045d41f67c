/// How a Swift plugin was built, as `sluice plugin build --direct` reports it on a separate line.
enum BuildWay: Equatable {
  /// The compiler was called without the package manager.
  case direct
  case package(because: String)

  var name: String {
    switch self {
    case .direct: "direct"
    case .package: "package"
    }
  }

  /// Why the build was not direct.
  var reason: String? {
    switch self {
    case .direct: nil
    case .package(let reason): reason
    }
  }

  private static let directText = "plugin build: the compiler was called directly"
  private static let packageText = "plugin build: the package is built: "

  var message: String {
    switch self {
    case .direct: Self.directText
    case .package(let reason): Self.packageText + reason
    }
  }

  /// Reads a line of standard error; nil if the line does not say how a plugin was built.
  init?(line: String) {
    guard line.hasPrefix("sluice: ") else { return nil }
    let text = line.dropFirst("sluice: ".count)
    if text == Self.directText {
      self = .direct
    } else if text.hasPrefix(Self.packageText) {
      self = .package(because: String(text.dropFirst(Self.packageText.count)))
    } else {
      return nil
    }
  }
}
