import SluiceMessages

/// The requests of one `send`: one for each URL, or for each of the URLs that braces and brackets produce. The n-th
/// `-o`, `-O` and `-T` belongs to the n-th URL, as with curl.
struct SendPlan: Sendable {
  private struct Target: Sendable {
    let glob: URLGlob
    /// The options that apply only to this URL.
    let options: [(name: String, value: ArgumentWord)]
    /// The number of the first request of this URL.
    let start: Int
  }

  private static let outputs: Set<String> = ["output", "remote-name"]
  private static let uploads: Set<String> = ["upload-file"]

  /// The arguments without URLs, and without the options that apply to a single URL.
  private let shared: ParsedArguments
  private let method: String?
  private let targets: [Target]
  /// The number of requests.
  let count: Int

  init(_ arguments: ParsedArguments) throws(CommandError) {
    var operands = arguments.operands
    let named = arguments.all("url")
    method =
      operands.count + named.count > 1 && operands.first.map(Self.isMethod) == true ? operands.removeFirst() : nil
    let urls = named + operands
    for url in urls { try Self.checkDash(url) }
    if urls.count > 1, let word = operands.first(where: Self.usualMethods.contains) {
      throw CommandError(
        .usage,
        "send: \(word) is not before the URLs, where the method is; to send a request to a host of that name,"
          + " write http://\(word)")
    }
    guard !urls.isEmpty, !urls.contains("") else {
      throw CommandError(.usage, "send: expected [METHOD] URL..., or --url URL\ntry \"sluice help send\"")
    }
    let outputs = arguments.options.filter { Self.outputs.contains($0.name) }
    let uploads = arguments.options.filter { Self.uploads.contains($0.name) }
    for (options, names) in [(outputs, "outputs (-o, -O)"), (uploads, "files to upload (-T)")]
    where options.count > urls.count {
      throw CommandError(.usage, "send: there are more \(names) than URLs: \(options.count) for \(urls.count)")
    }
    var (targets, start) = ([Target](), 0)
    for (index, url) in urls.enumerated() {
      var options = uploads.dropFirst(index).prefix(1) + outputs.dropFirst(index).prefix(1)
      if index >= outputs.count, arguments.has("remote-name-all") { options.append(("remote-name", "")) }
      targets.append(
        Target(glob: try URLGlob(url, isLiteral: arguments.has("globoff")), options: Array(options), start: start))
      start += targets[index].glob.count
    }
    self.targets = targets
    count = start
    let own = Self.outputs.union(Self.uploads).union(["url"])
    var shared = ParsedArguments()
    for option in arguments.options where !own.contains(option.name) { shared.append(option) }
    self.shared = shared
  }

  /// Refuses a word that was meant as an option. Programs that format text turn a hyphen into a longer dash, and the
  /// request would be sent without the option.
  private static func checkDash(_ word: String) throws(CommandError) {
    guard let first = word.unicodeScalars.first, !first.isASCII,
      first.properties.generalCategory == .dashPunctuation || first == "\u{2212}"
    else { return }
    let name = first.properties.name?.lowercased() ?? "dash"
    throw CommandError(
      .usage,
      "send: \(PlainText.quote(word)) begins with \(name) (U+\(String(first.value, radix: 16, uppercase: true))) and"
        + " not with a hyphen; type it again, as in -H")
  }

  /// The arguments of one request. Its operands are the method, if one was given, and the URL.
  subscript(index: Int) -> ParsedArguments {
    let target = targets[urlNumber(of: index)]
    let (url, values) = target.glob[index - target.start]
    var arguments = shared
    for var option in target.options {
      if option.name == "output", let name = option.value.text {
        option.value = ArgumentWord(URLGlob.name(name, with: values))
      }
      arguments.append(option)
    }
    if let method { arguments.append(operand: method) }
    arguments.append(operand: url)
    return arguments
  }

  /// The position of the request's URL among the URLs of the command, counted from 0.
  func urlNumber(of index: Int) -> Int { targets.lastIndex { $0.start <= index } ?? 0 }

  /// The numbers of the requests that show whether all are right: every request, but of a URL that stands for very many
  /// only some (``URLGlob/samples``).
  var samples: [Int] { targets.flatMap { target in target.glob.samples.map { target.start + $0 } } }

  private static let usualMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]

  /// Whether a word is a method: a word in capitals, or one of the usual methods in any case.
  private static func isMethod(_ word: String) -> Bool {
    usualMethods.contains(word.uppercased()) || word.allSatisfy { $0.isASCII && ($0.isUppercase || $0 == "-") }
  }
}
