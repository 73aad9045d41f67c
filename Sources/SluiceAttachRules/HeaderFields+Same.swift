import SluiceMessages

extension HeaderFields {
  /// The first field with the name and the value of a field of another list, among those that are left.
  func firstIndex(ofFieldAt index: Int, in other: HeaderFields, among isLeft: [Bool]) -> Int? {
    let name = other.buffer.span.extracting(other.nameRange(at: index))
    let value = other.buffer[other.valueRange(at: index)]
    return indices.first { isLeft[$0] && isName(at: $0, name) && buffer[valueRange(at: $0)] == value }
  }
}
