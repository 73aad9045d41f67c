/// A difference between the two parsers that is known, and why ours reads the bytes as it does.
struct DifferenceRule: Sendable {
  /// What http-parser does.
  let name: String
  /// The section that decides.
  let section: String
  /// The differences that the rule explains in a comparison; none if it does not apply.
  let explains: @Sendable (Comparison) -> Set<Comparison.Aspect>

  static let all: [DifferenceRule] = refusedByUs + refusedByHTTPParser + readInAnotherWay

  /// Ours refuses, http-parser does not.
  ///
  /// - Parameters:
  ///   - reasons: parts of our reasons.
  ///   - applies: whether the bytes have the feature, found without our parser.
  static func weRefuse(
    _ name: String, _ section: String, _ reasons: [String], where applies: @escaping @Sendable (Comparison) -> Bool
  ) -> DifferenceRule {
    DifferenceRule(name: name, section: section) { comparison in
      guard let reason = comparison.ours.refusal, reasons.contains(where: reason.contains), applies(comparison) else {
        return []
      }
      return [.acceptance]
    }
  }

  /// http-parser refuses with one of these errors, ours does not.
  static func itRefuses(
    _ name: String, _ section: String, _ errors: [String], where applies: @escaping @Sendable (Comparison) -> Bool
  ) -> DifferenceRule {
    DifferenceRule(name: name, section: section) { comparison in
      guard let error = comparison.theirs.refusal, errors.contains(error), applies(comparison) else { return [] }
      return [.acceptance]
    }
  }
}
