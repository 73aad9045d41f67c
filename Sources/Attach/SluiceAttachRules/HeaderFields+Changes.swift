import SluiceMessages

extension HeaderFields {
  /// The differences between this list and the other one: `lost` has the positions of the fields that only this list
  /// has, `added` has the positions of the fields that only the other list has. Fields are equal if both name and value
  /// are equal. If equal fields are repeated, the first ones of both lists are matched with each other.
  func changes(to other: HeaderFields) -> (lost: [Int], added: [Int]) {
    // Most changes only add fields at the end.
    let common = zip(indices, other.indices).first { !hasSameField(at: $0, as: other, at: $1) }?.0
    let start = common ?? Swift.min(count, other.count)
    var (lost, added) = ([Int](), Array(start..<other.count))
    for index in start..<count {
      if let place = added.firstIndex(where: { hasSameField(at: index, as: other, at: $0) }) {
        added.remove(at: place)
      } else {
        lost.append(index)
      }
    }
    return (lost, added)
  }

  /// The index of the first field that has the same name and value as a field of another list.
  func firstIndex(ofFieldAt index: Int, in other: HeaderFields) -> Int? {
    indices.first { hasSameField(at: $0, as: other, at: index) }
  }

  private func hasSameField(at index: Int, as other: HeaderFields, at place: Int) -> Bool {
    let (value, wanted) = (valueRange(at: index), other.valueRange(at: place))
    return value.count == wanted.count && isName(at: index, other.buffer.span.extracting(other.nameRange(at: place)))
      && zip(value, wanted).allSatisfy { buffer[$0] == other.buffer[$1] }
  }
}
