package import SluiceMessages

/// A stage's answer to a piece of a body.
package enum PieceVerdict: Sendable, Hashable {
  /// The piece is passed on unchanged.
  case pass
  /// The output replaces the piece.
  case taken
  /// Like ``taken``, and no further piece comes until the token is resumed.
  case suspended
  /// The stage's own decision, whatever its failure policy.
  case fail(StageFailure)
  /// The stage broke a rule; its failure policy decides what follows.
  case fault(StageFailure)
}
