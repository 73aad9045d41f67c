import SluiceMessages

/// Commands for curl: taken from their text, and written.
enum CurlText {
  /// Options of `send` that curl does not have, or that mean something else there.
  private static let own: Set<String> = [
    "config", "plugin", "document", "metadata", "explain", "events", "trace", "no-fail", "no-location", "no-compressed",
    "from-curl", "curl", "help",
  ]

  /// The arguments of `send` with those of the curl command that `--from-curl` has; the others come after them.
  static func expand(_ arguments: ParsedArguments) throws(CommandError) -> ParsedArguments {
    guard let given = arguments.bytes("from-curl") else { return arguments }
    let text =
      given == Array("-".utf8) ? try DataReader(limitBytes: 1 << 24).content(ofFile: "-", "--from-curl") : given
    var words = try ShellWords.parse(text)[...]
    guard let program = words.popFirst(), program.shown == "curl" || program.shown.hasSuffix("/curl") else {
      throw CommandError(.usage, "send: --from-curl: expected a command that begins with \"curl\"")
    }
    var parsed: ParsedArguments
    do throws(CommandError) { parsed = try ArgumentParser.parse(words, for: SendCommand.description) } catch {
      throw CommandError(error.status, error.message.replacing("send: ", with: "send: --from-curl: "))
    }
    if let option = parsed.options.first(where: { own.contains($0.name) }) {
      throw CommandError(.usage, "send: --from-curl: curl's option for --\(option.name) is not available here")
    }
    guard parsed.operands.count + (parsed.has("url") ? 1 : 0) == 1 else {
      throw CommandError(.usage, "send: --from-curl: expected a command with one URL")
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
    if !arguments.has("no-compressed") { words.append("--compressed") }
    if !["fail", "fail-with-body", "no-fail"].contains(where: arguments.has) { words.append("--fail-with-body") }
    // Curl takes the method from the options, except where another one is wanted.
    if !arguments.has("head"), request.method != SendData.method(arguments) {
      words += ["-X", ShellWords.quoted(Array(request.method.utf8))]
    }
    // The data of -G is in the URL already.
    let left = arguments.has("get") ? implied.union(SendData.joined + ["get"]) : implied
    for option in arguments.options where !own.contains(option.name) && !left.contains(option.name) {
      guard let description = SendCommand.description.option(named: option.name) else { continue }
      words.append(description.letter.map { "-\($0)" } ?? "--\(option.name)")
      if description.argument != nil { words.append(ShellWords.quoted(shown(option, mask))) }
    }
    words.append(ShellWords.quoted(Array(mask.url(request.url.withoutUserInfo).utf8)))
    return words.joined(separator: " ")
  }

  /// Those that are written once, in one place.
  private static let implied: Set<String> = ["location", "compressed", "url", "request"]

  private static func shown(_ option: (name: String, value: ArgumentWord), _ mask: SecretMask) -> [UInt8] {
    switch option.name {
    case "user", "oauth2-bearer", "cookie": return Array(SecretList.placeholder.utf8)
    case "header":
      guard let colon = option.value.bytes.firstIndex(of: UInt8(ascii: ":")) else { return option.value.bytes }
      let name = String(decoding: option.value.bytes[..<colon], as: UTF8.self)
      let value = String(decoding: option.value.bytes[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
      guard !value.isEmpty else { return option.value.bytes }
      let masked = mask.value(value, ofHeader: name)
      return masked == value ? option.value.bytes : Array("\(name): \(masked)".utf8)
    case "proxy": return (try? HTTPURL(option.value.shown)).map { Array(mask.url($0).utf8) } ?? option.value.bytes
    default: return option.value.bytes
    }
  }
}
