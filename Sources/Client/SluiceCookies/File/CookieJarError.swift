public import SluiceMessages

/// Why the file of a jar cannot be read or written. The file is unchanged.
public struct CookieJarError: DescribedError, Sendable, Hashable {
  /// The kind of the error. More kinds may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The code for programs.
    public let rawValue: String
    /// Accepts any text. If the text is none of the codes below, the value differs from all constants.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The content is not that of a cookie file; ``CookieJarError/line`` is the first wrong line.
    public static let damaged = Self(rawValue: "damaged")
    /// The file is a link, is not a regular file, belongs to another user, or is open to other users.
    public static let unsafe = Self(rawValue: "unsafe")
    /// Another process held the lock until the timeout.
    public static let locked = Self(rawValue: "locked")
    /// A system call failed, for example because the folder does not exist, permission is missing, the disk is full, or
    /// no thread can be started.
    public static let system = Self(rawValue: "system")
  }

  /// The kind of the error.
  public let code: Code
  /// The path of the file.
  public let file: String
  /// The number of the wrong line, counted from 1; nil if the error is not in a line.
  public let line: Int?
  /// What is wrong and what to do. Does not name the file. Never contains the value of a cookie.
  public let message: String

  package init(_ code: Code, _ file: String, line: Int? = nil, _ message: String) {
    self.code = code
    self.file = file
    self.line = line
    self.message = message
  }

  /// File, line and message.
  public var description: String { "cookie jar \(PlainText.path(file))\(line.map { ":\($0)" } ?? ""): \(message)" }
}
