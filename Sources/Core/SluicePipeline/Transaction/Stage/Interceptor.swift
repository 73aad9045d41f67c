package import SluiceMessages

/// A stage that may change requests and responses. Every method is called on the loop of its transaction and must not
/// block.
///
/// Calls come from several loops at once; an implementation must protect the state that they share.
package protocol Interceptor: AnyObject, Sendable {
  /// The capabilities of the stage. The value must not change.
  var capabilities: StageCapabilities { get }

  /// An identity that all places of one instance share.
  var identity: ObjectIdentifier { get }

  /// Called before the request is sent.
  func interceptRequest(_ exchange: Exchange) -> Verdict

  /// Called immediately before a hop is sent; ``Exchange/issueHeaders`` are the headers of the hop. Answers
  /// ``Verdict/proceed`` or fails.
  func interceptIssue(_ exchange: Exchange) -> Verdict

  /// A redirect is about to be followed. Answers ``Verdict/proceed``, ``Verdict/respond`` to make the redirect itself
  /// the response, or a failure; may suspend.
  func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict

  /// Credentials are demanded. Answers ``Verdict/respond`` if the request now has them, ``Verdict/proceed`` to ask the
  /// next stage, or a failure; may suspend.
  func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict

  /// An informational (1xx) response has arrived; the final one is still to come.
  func interceptInformational(_ exchange: Exchange, _ status: Int, _ headers: HeaderFields)

  /// The response has arrived; its body is available if a stage of the list wants it.
  func interceptResponse(_ exchange: Exchange) -> Verdict

  /// No response came.
  func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict

  /// A piece of a body passes; `output` gets the bytes that replace it.
  func interceptPiece(_ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8])
    -> PieceVerdict

  /// A body has ended; `output` gets the bytes that follow the last piece.
  func interceptBodyEnd(_ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]) -> PieceVerdict

  /// The suspended call will not be resumed. Called at most once for a token.
  func suspensionWasCancelled(_ token: SuspensionToken)

  /// The host has something to say about the fields that describe a body which the stage changes
  /// (``DerivedFields/warning``).
  func warn(about fields: DerivedFields)

  /// What a call failed to do within its deadline, as part of a sentence such as "it did not resume". Implement it if
  /// calls wait for something other than the stage's own suspension.
  var overdueWords: String { get }
}

extension Interceptor {
  package var identity: ObjectIdentifier { ObjectIdentifier(self) }
  package func interceptRequest(_ exchange: Exchange) -> Verdict { .proceed }
  package func interceptIssue(_ exchange: Exchange) -> Verdict { .proceed }
  package func interceptRedirect(_ exchange: Exchange, _ redirect: Redirect) -> Verdict { .proceed }
  package func interceptChallenge(_ exchange: Exchange, _ offer: ChallengeOffer) -> Verdict { .proceed }
  package func interceptInformational(_ exchange: Exchange, _ status: Int, _ headers: HeaderFields) {}
  package func interceptResponse(_ exchange: Exchange) -> Verdict { .proceed }
  package func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict { .proceed }
  package func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict { .pass }
  package func interceptBodyEnd(
    _ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]
  ) -> PieceVerdict { .pass }
  package func suspensionWasCancelled(_ token: SuspensionToken) {}
  package func warn(about fields: DerivedFields) {}
  package var overdueWords: String { "it did not resume" }
}

/// The callbacks of a stage, and the bodies that it wants.
package struct StageCapabilities: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let request = StageCapabilities(rawValue: 1)
  package static let issue = StageCapabilities(rawValue: 2)
  package static let response = StageCapabilities(rawValue: 4)
  package static let failure = StageCapabilities(rawValue: 8)
  package static let wantsRequestBody = StageCapabilities(rawValue: 16)
  package static let wantsResponseBody = StageCapabilities(rawValue: 32)
  package static let requestPieces = StageCapabilities(rawValue: 64)
  package static let responsePieces = StageCapabilities(rawValue: 128)
  package static let trace = StageCapabilities(rawValue: 256)
  package static let redirect = StageCapabilities(rawValue: 512)
  package static let challenge = StageCapabilities(rawValue: 1024)
  package static let informational = StageCapabilities(rawValue: 2048)
}
