import Glibc

/// The environment of a test did not do what the test needs; this says nothing about the code under test.
package struct TestKitError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }

  /// Names the failed call and the operating system's reason.
  static func system(_ call: String, _ errorNumber: Int32 = errno) -> TestKitError {
    TestKitError("\(call): \(String(cString: strerror(errorNumber)))")
  }
}
