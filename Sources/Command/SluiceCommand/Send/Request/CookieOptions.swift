import Glibc
import Sluice
import SluiceClient
import SluiceCookies
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// The cookies of `-b` and `--cookie-jar`: cookies from files, and cookies that responses set.
struct CookieOptions {
  /// Where the cookies are written at the end.
  private enum Target {
    case standardOutput
    case file(String)
    /// A pipe or a device. It is open from the start, so that it is known to have a reader.
    case stream(ByteOutput)
  }

  let jar: CookieJar
  /// Nil if the cookies are not written.
  private let target: Target?

  /// Returns nil if the arguments name no file of cookies. In this case, as with curl, the cookies of responses are
  /// ignored.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> CookieOptions? {
    let files = arguments.allBytes("cookie").filter { !$0.contains(UInt8(ascii: "=")) }
    guard arguments.has("cookie-jar") || !files.isEmpty else { return nil }
    let target = try target(arguments)
    let jar = CookieJar()
    // If the name is empty, no file is read, but the cookies of responses are kept.
    for name in files where !name.isEmpty {
      try read(try DataReader.name(name, "-b"), into: jar, arguments)
    }
    return CookieOptions(jar: jar, target: target)
  }

  /// Finds out before the first request whether the cookies can be written.
  private static func target(_ arguments: ParsedArguments) throws(CommandError) -> Target? {
    guard let path = arguments["cookie-jar"], !arguments.has("curl") else { return nil }
    guard !StandardOutput.isNamed(by: path) else { return .standardOutput }
    guard !isStream(path) else {
      do throws(CommandError) {
        return .stream(try ByteOutput(path: path, patience: OutputPatience.reader(arguments)))
      } catch { throw unwritten(error.message) }
    }
    do throws(CookieJarError) { try CookieJar.checkWriting(to: path) } catch { throw unwritten("\(error)") }
    return .file(path)
  }

  /// Whether a path is that of a pipe or a device, or stands for a descriptor of this process. As for every file with
  /// secrets, other symbolic links are not followed.
  private static func isStream(_ path: String) -> Bool {
    if StandardError.isNamed(by: path) { return true }
    guard OutputTarget(at: path) == .stream, let end = OutputTarget.following(path) else { return false }
    return end == SystemPath.absolute(path) || OutputTarget.isInProc(end)
  }

  /// Whether `-b` names a file.
  static func hasFile(_ arguments: ParsedArguments) -> Bool {
    arguments.allBytes("cookie").contains { !$0.contains(UInt8(ascii: "=")) && !$0.isEmpty }
  }

  /// The cookies that the arguments contain, as one value; nil if there are none.
  static func given(_ arguments: ParsedArguments) -> [UInt8]? {
    let values = arguments.allBytes("cookie").filter { $0.contains(UInt8(ascii: "=")) }
    return values.isEmpty ? nil : Array(values.joined(separator: Array("; ".utf8)))
  }

  func add(to configuration: inout Configuration) {
    configuration.addCookies(jar, name: "send --cookie", besidesGiven: true)
  }

  private static func read(_ path: String, into jar: CookieJar, _ arguments: ParsedArguments) throws(CommandError) {
    // As with curl, a file that does not exist yet counts as empty.
    guard path == "-" || SystemPath.stream(of: path) != nil || SystemPath.status(of: path) != nil else { return }
    let content = try DataReader(limitBytes: 32 << 20).content(ofFile: path, "-b")
    // As with curl, a line that is no cookie does not make the others useless.
    let cookies = try? CookieFileText.read(content + [UInt8(ascii: "\n")], now: CookieJar.wallClock()) { damage in
      guard !arguments.has("silent") else { return }
      StandardError.say(
        "send: -b: \(PlainText.path(path)):\(damage.line): \(damage.message); the line is ignored", .warning)
    }
    let leavesOutSession = arguments.has("junk-session-cookies")
    jar.insert((cookies ?? []).filter { !leavesOutSession || $0.expires != nil })
  }

  /// Writes the jar.
  func finish() throws(CommandError) {
    switch target {
    case nil: return
    case .standardOutput:
      try SendStatus.writing { () throws(CommandError) in try StandardOutput.write(jar.text) }
    case .stream(let output):
      output.append(jar.text)
      if let failure = output.finish() { throw Self.unwritten(failure.description) }
    case .file(let path):
      let jar = jar
      let failure = WaitingThread.run { () -> CookieJarError? in
        do throws(CookieJarError) { try await jar.write(to: path) } catch { return error }
        return nil
      }
      if let failure { throw Self.unwritten("\(failure)") }
    }
  }

  private static func unwritten(_ reason: String) -> CommandError {
    CommandError(SendStatus.notWritten, "send: --cookie-jar: \(reason)")
  }
}
