/// A known difference between the two parsers, and why our parser reads the bytes as it does.
struct DifferenceRule: Sendable {
  /// What http-parser does.
  let name: String
  /// The section of the RFC that decides.
  let section: String
  /// Returns the differences that the rule explains in a comparison. Empty if the rule does not apply.
  let explains: @Sendable (Comparison) -> Set<Comparison.Aspect>

  static let all: [DifferenceRule] = refusedByUs + refusedByHTTPParser + readInAnotherWay

  /// Makes a rule for bytes that our parser refuses and http-parser accepts.
  ///
  /// - Parameters:
  ///   - reasons: texts, one of which our parser's reason must contain.
  ///   - applies: whether the bytes have the feature that the rule is about. It looks at the bytes, not at our parser's
  ///     reason.
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

  /// Makes a rule for bytes that http-parser refuses with one of these errors, and our parser accepts.
  static func itRefuses(
    _ name: String, _ section: String, _ errors: [String], where applies: @escaping @Sendable (Comparison) -> Bool
  ) -> DifferenceRule {
    DifferenceRule(name: name, section: section) { comparison in
      guard let error = comparison.theirs.refusal, errors.contains(error), applies(comparison) else { return [] }
      return [.acceptance]
    }
  }
}
