/// The input from libFuzzer, copied so that every access to it is checked.
public enum FuzzInput {
  /// A copy of the input; empty for a null pointer, which must come with a count of 0.
  public static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// Ends the process if a property is violated; libFuzzer reports that as a finding.
  public static func demand(_ holds: Bool, _ property: String) {
    if !holds { fatalError(property) }
  }
}
