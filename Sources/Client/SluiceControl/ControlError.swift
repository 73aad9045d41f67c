public import SluiceMessages
public import SluiceJSON
import SluiceServer

/// Why a control socket could not be opened, or a command over it failed.
public struct ControlError: DescribedError, Sendable, Hashable {
  /// The kind of failure, for programs. More kinds may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code in documents, in snake case.
    public let rawValue: String

    /// Accepts any text: an engine of another version may have other codes.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The socket cannot be created: a file of another kind is at its path, or another process listens there.
    public static let socket = Code(rawValue: "socket")
    /// There is no socket, or no process listens on it.
    public static let noEngine = Code(rawValue: "no_engine")
    /// Several engines run, and the command names no socket.
    public static let severalEngines = Code(rawValue: "several_engines")
    /// The engine could not be reached, or did not answer in time.
    public static let noAnswer = Code(rawValue: "no_answer")

    /// The client is another user.
    public static let forbidden = Code(rawValue: "forbidden")
    /// No command has this path.
    public static let notFound = Code(rawValue: "not_found")
    /// The command of this path needs another method; the advice names it.
    public static let methodNotAllowed = Code(rawValue: "method_not_allowed")
    /// The body is not JSON, or the head of the request is ambiguous.
    public static let malformed = Code(rawValue: "malformed")
    /// The command does not accept the document.
    public static let invalidRequest = Code(rawValue: "invalid_request")
    /// The body has more than 1 MiB, the target more than 8 KiB, or the header fields more than 32 KiB.
    public static let tooLarge = Code(rawValue: "too_large")
    /// Too many commands are running.
    public static let crowded = Code(rawValue: "crowded")
    /// The configuration cannot be read.
    public static let configuration = Code(rawValue: "configuration")
    /// The swap was refused, and the running builds continue to serve; the message says why.
    public static let refused = Code(rawValue: "refused")
    /// A newer command has replaced this command, because it includes the same work.
    public static let superseded = Code(rawValue: "superseded")
    /// The swap was cancelled before anything was published.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The engine is being shut down.
    public static let shutdown = Code(rawValue: "shutdown")
  }

  /// The kind of failure.
  public let code: Code
  /// What went wrong, on what, and why.
  public let message: String
  /// What to do about it, if that is not obvious.
  public let advice: String?

  /// An error of this process, or the error that answers a command.
  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    self.advice = advice
  }

  init(_ error: ServerError) { self.init(.socket, error.message, advice: error.advice) }

  /// The message and, after a semicolon, the advice.
  public var description: String { message + (advice.map { "; \($0)" } ?? "") }

  /// `{"error": {"code": …, "message": …, "advice": …}}`.
  public var document: JSONValue {
    let error: JSONValue = ["code": JSONValue(code.rawValue), "message": JSONValue(message)]
    error["advice"] = advice.map { JSONValue($0) }
    return ["error": error]
  }

  /// Reads a document that ``document`` has made; nil for any other document.
  init?(_ document: JSONValue) {
    guard let error = document["error"], let code = error["code"]?.string, let message = error["message"]?.string else {
      return nil
    }
    self.init(Code(rawValue: code), message, advice: error["advice"]?.string)
  }
}
