/// The input from libFuzzer, copied so that every access to it is checked.
public enum FuzzInput {
  /// Returns a copy of the input. A null pointer gives an empty array, and its count must be 0.
  public static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: start, count: count))
  }

  /// Ends the process if a property is violated; libFuzzer reports that as a finding.
  public static func demand(_ holds: Bool, _ property: String) {
    if !holds { fatalError(property) }
  }
}
