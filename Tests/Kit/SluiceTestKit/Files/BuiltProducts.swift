import Glibc

/// The products of the build that runs the tests, in debug and in release builds.
package enum BuiltProducts {
  /// The folder of the running test program, which is the folder of all products.
  package static let directory: String = {
    guard let resolved = realpath("/proc/self/exe", nil) else { return "." }
    defer { free(resolved) }
    let program = String(cString: resolved)
    return program.split(separator: "/").dropLast().map { "/\($0)" }.joined()
  }()

  /// A dynamic library product: `library("bearer-auth")` is `…/libbearer-auth.so`.
  package static func library(_ product: String) -> String { "\(directory)/lib\(product).so" }

  /// An executable product.
  package static func executable(_ product: String) -> String { "\(directory)/\(product)" }
}
