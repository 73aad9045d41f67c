/// An error whose description is its text for people. All public errors of this project are such errors.
public protocol DescribedError: Error, CustomStringConvertible {}

extension DescribedError {
  /// The description, in place of Foundation's default text, which says nothing. For an `any Error`, Foundation gives
  /// the description only in programs with the module SluiceFoundation; other programs print the error itself.
  public var localizedDescription: String { description }
}
