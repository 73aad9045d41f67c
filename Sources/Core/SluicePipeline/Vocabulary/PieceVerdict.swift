package import SluiceMessages

/// A stage's answer to a piece of a body.
package enum PieceVerdict: Sendable, Hashable {
  /// The piece is passed on unchanged.
  case pass
  /// The output replaces the piece.
  case taken
  /// Like ``taken``, and no further piece comes until the token is resumed.
  case suspended
  /// The stage has decided to fail the transaction. Its failure policy has no influence.
  case fail(StageFailure)
  /// The stage broke a rule; its failure policy decides what follows.
  case fault(StageFailure)
}
