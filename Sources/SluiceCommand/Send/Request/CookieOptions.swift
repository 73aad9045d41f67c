import Glibc
import Sluice
import SluiceClient
import SluiceCookies
import SluiceMessages
import SluicePluginImage
import SluiceSupport

/// The cookies of `-b` and `--cookie-jar`: cookies from files, and cookies that responses set.
struct CookieOptions {
  let jar: CookieJar
  /// The file to which all cookies are written at the end; nil if they are not written.
  private let file: String?

  /// Returns nil if the arguments name no file of cookies. In this case, as with curl, the cookies of responses are
  /// ignored.
  static func make(_ arguments: ParsedArguments) throws(CommandError) -> CookieOptions? {
    let files = arguments.allBytes("cookie").filter { !$0.contains(UInt8(ascii: "=")) }
    let file = arguments["cookie-jar"]
    guard file != nil || !files.isEmpty else { return nil }
    if let file, !StandardOutput.isNamed(by: file), !arguments.has("curl") {
      do throws(CookieJarError) { try CookieJar.checkWriting(to: file) } catch { throw unwritten(error) }
    }
    let jar = CookieJar()
    // If the name is empty, no file is read, but the cookies of responses are kept.
    for name in files where !name.isEmpty {
      try read(try DataReader.name(name, "-b"), into: jar, arguments)
    }
    return CookieOptions(jar: jar, file: file)
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
    guard path == "-" || access(SystemPath.of(path), F_OK) == 0 else { return }
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

  /// Writes the jar; the name `-` means standard output.
  func finish() throws(CommandError) {
    guard let file else { return }
    guard !StandardOutput.isNamed(by: file) else {
      return try StandardOutput.write(jar.text)
    }
    let jar = jar
    let failure = WaitingThread.run { () -> CookieJarError? in
      do throws(CookieJarError) { try await jar.write(to: file) } catch { return error }
      return nil
    }
    if let failure { throw Self.unwritten(failure) }
  }

  private static func unwritten(_ error: CookieJarError) -> CommandError {
    CommandError(.failed, "send: --cookie-jar: \(error)")
  }
}
