import Glibc
import SluiceMessages
import SluiceSupport

/// The continuation of a download (`-C`), whose first bytes are already in the output file.
struct ResumedBody: Sendable {
  /// How many bytes the file already has.
  let offset: Int

  /// Returns nil without `-C`, or if the file is empty or does not exist.
  static func make(_ arguments: ParsedArguments, path: String?) throws(CommandError) -> ResumedBody? {
    guard let value = arguments["continue-at"] else { return nil }
    guard !arguments.has("range") else { throw CommandError(.usage, "send: give either -C or -r") }
    guard !arguments.has("upload-file") else { throw CommandError(.usage, "send: -C is for downloads, and not for -T") }
    guard value == "-" else {
      guard let offset = Int(value), offset >= 0 else {
        throw CommandError(.usage, "send: -C: expected a number of bytes, or -, found \(PlainText.quote(value))")
      }
      return offset > 0 ? ResumedBody(offset: offset) : nil
    }
    guard let path else { throw CommandError(.usage, "send: -C - needs -o or -O: the size of the file is the offset") }
    var status = stat()
    guard stat(SystemPath.of(path), &status) == 0 else { return nil }
    return status.st_size > 0 ? ResumedBody(offset: Int(status.st_size)) : nil
  }

  /// The value of `Range` (RFC 9110 §14.2).
  var range: String { "bytes=\(offset)-" }

  enum Answer: Equatable {
    /// The body continues the content of the file.
    case rest
    /// The file is already complete: the server says that it has nothing after these bytes (RFC 9110 §15.5.17), or it
    /// sends a whole body of exactly this size. The body is not written to the file.
    case nothingLeft
    /// The response has another status, such as that of an error.
    case other
    case refused(String)
  }

  func answer(_ response: Response) -> Answer {
    switch response.status {
    case 206:
      let range = response.headers["content-range"] ?? ""
      guard range.hasPrefix("bytes \(offset)-") else {
        return .refused("the server sent a part that does not begin at byte \(offset): \(PlainText.quote(range))")
      }
      return .rest
    case 416:
      guard let total = response.headers["content-range"]?.split(separator: "/").last, total != "*",
        total != "\(offset)"
      else { return .nothingLeft }
      return .refused(
        "the local file has \(offset) bytes, but the server's has \(total); remove the local file to get the whole one")
    // As with curl. Such a server does not send parts, but the whole body is not longer than the file.
    case 200 where response.headers["content-length"].flatMap(Int.init) == offset: return .nothingLeft
    case 200:
      return .refused("the server does not send parts of the body, so the download cannot be continued; leave -C out")
    default: return .other
    }
  }
}
