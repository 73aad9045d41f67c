public import SluiceJSON

/// Why a control socket could not be had, or a command over it came to nothing.
public struct ControlError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure, for programs; an extensible set.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code in documents, in snake case.
    public let rawValue: String

    /// Accepts any text: an engine of another version may have other codes.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The socket cannot be made: something else is there, or somebody listens at it.
    public static let socket = Code(rawValue: "socket")
    /// There is no socket, or nobody listens at it.
    public static let noEngine = Code(rawValue: "no_engine")
    /// Several engines run, and none was named.
    public static let severalEngines = Code(rawValue: "several_engines")
    /// The engine could not be talked to, or gave no answer in time.
    public static let noAnswer = Code(rawValue: "no_answer")

    /// The client is another user.
    public static let forbidden = Code(rawValue: "forbidden")
    /// No command has this path.
    public static let notFound = Code(rawValue: "not_found")
    /// The command of this path has another method; the advice names it.
    public static let methodNotAllowed = Code(rawValue: "method_not_allowed")
    /// The body is no JSON, or the head can be read in two ways.
    public static let malformed = Code(rawValue: "malformed")
    /// The document is not what the command takes.
    public static let invalidRequest = Code(rawValue: "invalid_request")
    /// The body has more than 1 MiB, the target more than 8 KiB, or the header fields more than 32 KiB.
    public static let tooLarge = Code(rawValue: "too_large")
    /// Too many commands are running.
    public static let crowded = Code(rawValue: "crowded")
    /// A configuration that cannot be read.
    public static let configuration = Code(rawValue: "configuration")
    /// What serves goes on; the message says why.
    public static let refused = Code(rawValue: "refused")
    /// A newer command does what this one was to do.
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
  /// What to do about it, where that isn't plain.
  public let advice: String?

  /// An error of this side, or one to answer a command with.
  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    self.advice = advice
  }

  /// The message and, after a semicolon, the advice.
  public var description: String { message + (advice.map { "; \($0)" } ?? "") }

  /// `{"error": {"code": …, "message": …, "advice": …}}`.
  public var document: JSONValue {
    let error: JSONValue = ["code": JSONValue(code.rawValue), "message": JSONValue(message)]
    error["advice"] = advice.map { JSONValue($0) }
    return ["error": error]
  }

  /// Reads what ``document`` gave; nil where it is something else.
  init?(_ document: JSONValue) {
    guard let error = document["error"], let code = error["code"]?.string, let message = error["message"]?.string else {
      return nil
    }
    self.init(Code(rawValue: code), message, advice: error["advice"]?.string)
  }
}
