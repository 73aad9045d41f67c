/// Why the file of a jar cannot be read or written. The file is unchanged.
public struct CookieJarError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the error. More kinds may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code for programs.
    public let rawValue: String
    /// Any text; a code that this module does not know is equal to none of its own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is not that of a cookie file; ``CookieJarError/line`` is the first wrong line.
    public static let damaged = Self(rawValue: "damaged")
    /// The file is a link, is not a regular file, belongs to another user, or is open to other users.
    public static let unsafe = Self(rawValue: "unsafe")
    /// Another process held the lock until the timeout.
    public static let locked = Self(rawValue: "locked")
    /// The system refuses: no such folder, no permission, a full disk, no thread.
    public static let system = Self(rawValue: "system")
  }

  /// The kind of the error.
  public let code: Code
  /// The path of the file.
  public let file: String
  /// Counted from 1; nil if no line is at fault.
  public let line: Int?
  /// What is wrong and what to do, without the file. Never contains the value of a cookie.
  public let message: String

  package init(_ code: Code, _ file: String, line: Int? = nil, _ message: String) {
    self.code = code
    self.file = file
    self.line = line
    self.message = message
  }

  /// File, line and message.
  public var description: String { "cookie jar \(file)\(line.map { ":\($0)" } ?? ""): \(message)" }
}
