import SluiceJSON
import SluiceMessages
import SluiceSupport

/// Reads commands for curl, and writes them.
enum CurlText {
  /// Options of `send` that curl does not have, or that have another meaning in curl.
  private static let own: Set<String> = [
    "config", "plugin", "document", "metadata", "json-bodies", "explain", "events", "har", "record", "trace", "no-fail",
    "no-location", "no-compressed", "from-curl", "curl", "help",
  ]

  /// The options of `send` as curl has them: without Sluice's own options, and with curl's letters.
  static let dialect = CommandDescription(
    "send", summary: "", operands: "URL...", operandCount: 0...100_000,
    options: SendCommand.description.options.filter { !own.contains($0.name) && $0.name != "cookie-jar" } + [
      Option("cookie-jar", "c", "FILE", "")
    ],
    reasonOfAbsence: SendCommand.description.reasonOfAbsence,
    run: { _ in .usage })

  /// Parses the arguments of a curl command.
  static func parse(_ words: ArraySlice<ArgumentWord>) throws(CommandError) -> ParsedArguments {
    let renamed = words.map { $0.text == "--config" ? "--options" : $0 }
    return try ArgumentParser.parse(renamed[...], for: dialect)
  }

  /// The arguments of the curl command that `--from-curl` gives, followed by the other arguments of `send`.
  static func expand(_ arguments: ParsedArguments) throws(CommandError) -> ParsedArguments {
    guard let given = arguments.bytes("from-curl") else { return arguments }
    guard arguments.allBytes("from-curl").count == 1 else {
      throw CommandError(.usage, "send: give --from-curl once")
    }
    let text =
      given == Array("-".utf8) ? try DataReader(limitBytes: 1 << 24).content(ofFile: "-", "--from-curl") : given
    var words = try ShellWords.parse(text.withoutByteOrderMark)[...]
    guard let program = words.popFirst(), program.shown == "curl" || program.shown.hasSuffix("/curl") else {
      throw CommandError(.usage, "send: --from-curl: expected a command that begins with \"curl\"")
    }
    var parsed: ParsedArguments
    do throws(CommandError) { parsed = try parse(words) } catch {
      throw CommandError(error.status, error.message.replacing("send: ", with: "send: --from-curl: "))
    }
    guard !parsed.operands.isEmpty || parsed.has("url") else {
      throw CommandError(.usage, "send: --from-curl: expected a command with a URL")
    }
    guard arguments.operands.isEmpty else {
      throw CommandError(.usage, "send: give either a URL or --from-curl")
    }
    for option in arguments.options where option.name != "from-curl" { parsed.append(option) }
    return parsed
  }

  /// A curl command that sends the same request, without the pipeline. Secrets are hidden.
  static func command(_ arguments: ParsedArguments, _ mask: SecretMask, for request: Request) -> String {
    var words = ["curl"]
    if !arguments.has("no-location"), arguments["max-redirs"] != "0" { words.append("-L") }
    if asksForCodings(arguments, request) { words.append("--compressed") }
    if !["fail", "fail-with-body", "no-fail"].contains(where: arguments.has) { words.append("--fail-with-body") }
    // Curl derives the method from the other options. `-X` is therefore written only if the method differs from the
    // derived method.
    if !arguments.has("head"), request.method != SendData.method(arguments) {
      words += ["-X", ShellWords.quoted(Array(request.method.utf8))]
    }
    // With -G, the data is already in the URL.
    let left = arguments.has("get") ? implied.union(SendData.joined + ["get"]) : implied
    for option in arguments.options where !own.contains(option.name) && !left.contains(option.name) {
      guard let description = SendCommand.description.option(named: option.name) else { continue }
      let isCookieJar = option.name == "cookie-jar"
      words.append(isCookieJar ? "-c" : description.letter.map { "-\($0)" } ?? "--\(option.name)")
      if description.argument != nil { words.append(ShellWords.quoted(shown(option, mask))) }
    }
    if request.url.userInfo != nil, !arguments.has("user"), !arguments.has("netrc") {
      words += ["-u", "\(Redactor.placeholder):\(Redactor.placeholder)"]
    }
    words.append(ShellWords.quoted(Array(mask.url(request.url.withoutUserInfo).utf8)))
    return words.joined(separator: " ")
  }

  private static func asksForCodings(_ arguments: ParsedArguments, _ request: Request) -> Bool {
    if arguments.has("no-compressed") || arguments.has("compressed") { return !arguments.has("no-compressed") }
    let fields = request.headers
    return request.options.decodesContent && request.method != "HEAD"
      && !fields.indices.contains {
        FieldSyntax.selectsRepresentation(fields.buffer.span.extracting(fields.nameRange(at: $0)))
      }
  }

  /// The options that are not copied from the arguments: other code writes them, or they are not written at all.
  private static let implied: Set<String> = ["location", "compressed", "url", "request", "options", "url-query"]

  /// A number such as `2` or `0.5`.
  private static func plain(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }

  private static func shown(_ option: (name: String, value: ArgumentWord), _ mask: SecretMask) -> [UInt8] {
    switch option.name {
    case "oauth2-bearer", "pass": return Array(Redactor.placeholder.utf8)
    case "user":
      let user = option.value.bytes.prefix { $0 != UInt8(ascii: ":") }
      return user.count < option.value.bytes.count ? Array(user) + ":\(Redactor.placeholder)".utf8 : Array(user)
    // A cookie value without an equals sign is the name of a file.
    case "cookie" where option.value.bytes.contains(UInt8(ascii: "=")):
      let names = option.value.shown.split(separator: ";").map { cookie in
        "\(cookie.prefix { $0 != "=" }.drop { $0 == " " })=\(Redactor.placeholder)"
      }
      return Array(names.joined(separator: "; ").utf8)
    case "data", "data-raw", "data-binary", "data-urlencode", "url-query", "form", "form-string":
      return option.value.text.map { Array(FormText.masked($0, mask).utf8) } ?? option.value.bytes
    // Curl accepts only seconds and whole bytes.
    case "max-time", "connect-timeout", "retry-delay", "retry-max-time":
      let seconds = DurationText.duration(option.value.shown) ?? DurationText.duration(option.value.shown + "s")
      return seconds.map { Array(plain($0.inSeconds).utf8) } ?? option.value.bytes
    case "max-filesize", "limit-rate":
      return ByteCount.parse(option.value.shown).map { Array("\($0)".utf8) } ?? option.value.bytes
    case "cert":
      // The path can be followed by a password.
      let path = option.value.bytes.prefix { $0 != UInt8(ascii: ":") }
      return path.count < option.value.bytes.count ? path + Array(":\(Redactor.placeholder)".utf8) : Array(path)
    case "header":
      guard let colon = option.value.bytes.firstIndex(of: UInt8(ascii: ":")) else { return option.value.bytes }
      let name = String(decoding: option.value.bytes[..<colon], as: UTF8.self)
      let value = String(decoding: option.value.bytes[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
      guard !value.isEmpty else { return option.value.bytes }
      let masked = mask.value(value, ofHeader: name)
      return masked == value ? option.value.bytes : Array("\(name): \(masked)".utf8)
    case "referer": return option.value.text.map { Array(mask.target($0).utf8) } ?? option.value.bytes
    case "proxy":
      guard let at = option.value.shown.lastIndex(of: "@") else { return option.value.bytes }
      let scheme = option.value.shown.firstRange(of: "://").map { option.value.shown[..<$0.upperBound] } ?? ""
      let hidden = "\(Redactor.placeholder):\(Redactor.placeholder)"
      return Array((scheme + hidden + option.value.shown[at...]).utf8)
    default: return option.value.bytes
    }
  }
}
