import SluiceMessages

/// What both parsers read from the same bytes, and the differences.
struct Comparison {
  enum Aspect: String, Hashable, CaseIterable {
    /// Only one parser refuses the bytes. The other aspects are then not compared.
    case acceptance
    /// The number, status and version of the heads.
    case heads
    case fields
    case body
    case trailers
    case end
    /// Whether the connection can be used again.
    case connection
  }

  let bytes: [UInt8]
  let isAnswerToHead: Bool
  let ours: Answer
  let theirs: Answer

  init(_ bytes: [UInt8], isAnswerToHead: Bool, skipsBodies: Bool = false) {
    self.bytes = bytes
    self.isAnswerToHead = isAnswerToHead
    ours = Answer.ours(to: bytes, isAnswerToHead: isAnswerToHead)
    theirs = Answer.httpParser(to: bytes, isAnswerToHead: isAnswerToHead, skipsBodies: skipsBodies)
  }

  /// The aspects that differ. If both parsers refuse the bytes, there is no difference, because nothing of the message
  /// is used.
  var differences: Set<Aspect> {
    if ours.refusal != nil || theirs.refusal != nil {
      return (ours.refusal == nil) == (theirs.refusal == nil) ? [] : [.acceptance]
    }
    return Set(Aspect.allCases.filter(isDifferent))
  }

  private func isDifferent(_ aspect: Aspect) -> Bool {
    switch aspect {
    case .acceptance: false
    case .heads: !ours.heads.elementsEqual(theirs.heads) { $0.status == $1.status && $0.isHTTP10 == $1.isHTTP10 }
    case .fields: ours.heads.map(\.fields) != theirs.heads.map(\.fields)
    case .body: ours.body != theirs.body
    case .trailers: ours.trailers != theirs.trailers
    case .end: ours.end != theirs.end
    case .connection: ours.end != nil && theirs.end != nil && ours.keepsConnection != theirs.keepsConnection
    }
  }

  /// Returns the rules that explain differences, and the differences that no rule explains.
  func explained(by rules: [DifferenceRule] = DifferenceRule.all) -> (rules: [DifferenceRule], left: Set<Aspect>) {
    var left = differences
    var used: [DifferenceRule] = []
    for rule in rules where !left.isEmpty {
      let found = rule.explains(self).intersection(left)
      if !found.isEmpty { used.append(rule) }
      left.subtract(found)
    }
    return (used, left)
  }
}

extension Comparison: CustomStringConvertible {
  var description: String {
    """
    \(explained().left.map(\.rawValue).sorted()) of \(Answer.text(of: bytes).debugDescription)\
    \(isAnswerToHead ? ", the answer to HEAD" : "")
    ours: \(ours)
    http-parser: \(theirs)
    """
  }
}
