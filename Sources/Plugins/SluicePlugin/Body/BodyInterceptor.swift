/// Changes bodies piece by piece, as they flow from the caller to the server and back (`sluice.body/1`).
///
/// The stage sees every body of its sides, from every source, and does not have to hold a whole body. Use
/// ``PluginOptions/wantsRequestBody`` and ``PluginOptions/wantsResponseBody`` for work that needs the whole body.
public protocol BodyInterceptor: Sendable {
  /// The sides whose bodies the stage sees; both by default.
  static var bodySides: Set<BodySide> { get }

  /// Called before the first piece of a body that is about to pass: once in each attempt, and for a request body once
  /// in each hop. Return nil to let the body pass unchanged. Throwing fails the transaction.
  func interceptBody(_ body: PassingBody) throws -> (any BodyTransform)?
}

extension BodyInterceptor {
  /// Both sides.
  public static var bodySides: Set<BodySide> { [.request, .response] }
}

/// Changes the pieces of one body. Its methods are called one after the other, on the loop of the transaction; while a
/// method awaits, no further piece comes.
public protocol BodyTransform: AnyObject {
  /// Takes a piece, and returns the bytes that replace it; return no bytes if nothing can be passed on yet.
  func transform(_ piece: [UInt8]) async throws -> [UInt8]

  /// Called when the body has ended; returns the bytes that follow the last piece.
  func finish() async throws -> [UInt8]

  /// Called after ``finish()``; returns the fields that follow the body, after the trailers that are already there.
  ///
  /// If the host refuses a field, the transaction fails. It refuses fields that frame or describe the message (RFC 9110
  /// §6.5.1).
  func trailers() async throws -> [(name: String, value: String)]

  /// Called for each trailer that arrives, before ``finish()``. Return false to drop the trailer.
  func keepsTrailer(_ name: String, _ value: String) throws -> Bool
}

extension BodyTransform {
  /// Adds no bytes at the end.
  public func finish() async throws -> [UInt8] { [] }

  /// Adds no trailers.
  public func trailers() async throws -> [(name: String, value: String)] { [] }

  /// Keeps every trailer.
  public func keepsTrailer(_ name: String, _ value: String) throws -> Bool { true }
}

/// A side of an exchange whose body passes.
public enum BodySide: Sendable, Hashable {
  case request
  case response

  var message: MessageSide { self == .request ? .request : .response }
}

/// A body that is about to pass, and the messages of its exchange, only for reading. Valid during the call.
public struct PassingBody: Sendable {
  /// The message whose body passes: the request or the response.
  public let side: BodySide
  /// The request of the exchange; for a response body, the request that it answers.
  public let request: StageRequest
  /// nil for a request body.
  public let response: StageResponse?
  /// The facts of the transaction. The attempt and the hop in them say which passage of the body this is.
  public let context: RequestContext
}
