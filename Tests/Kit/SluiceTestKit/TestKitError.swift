import Glibc

/// A failure of the test's environment, such as a server that does not start. The code under test is not at fault.
package struct TestKitError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }

  /// Names the failed call and the operating system's reason.
  package static func system(_ call: String, _ errorNumber: Int32 = errno) -> TestKitError {
    TestKitError("\(call): \(String(cString: strerror(errorNumber)))")
  }
}
