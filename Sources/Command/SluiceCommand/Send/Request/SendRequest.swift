import Sluice
import SluiceTransport
import SluiceCookies
import SluiceIDNA
import SluiceMessages

/// The request that the arguments describe. The arguments are those of `send`, or of another command that has some of
/// the options of `send`.
struct SendRequest {
  private let arguments: ParsedArguments
  private let configuration: Configuration
  private let command: String
  private let text: String
  private let contents: SendContents?
  private let netrc: Netrc?
  private let jar: CookieJar?
  private let range: String?
  private let signature: SignatureOption?

  /// - Parameters:
  ///   - command: the name of the command; error messages begin with it.
  ///   - url: the URL; if nil, the last operand.
  ///   - contents: the contents that several requests share. If it is nil, the content is read for this request, and
  ///     standard input is read completely before the request is sent.
  ///   - netrc: users and passwords of hosts; nil for none.
  ///   - jar: cookies that are sent in addition to those in the arguments; nil for none.
  ///   - range: the value of `Range` for a download that is continued; nil for none.
  ///   - signature: nil if requests are not signed.
  init(
    _ arguments: ParsedArguments, _ configuration: Configuration, command: String = "send", url: String? = nil,
    contents: SendContents? = nil, netrc: Netrc? = nil, jar: CookieJar? = nil, range: String? = nil,
    signature: SignatureOption? = nil
  ) {
    self.arguments = arguments
    self.configuration = configuration
    self.command = command
    text = url ?? arguments.operands.last ?? ""
    self.contents = contents
    self.netrc = netrc
    self.jar = jar
    self.range = range
    self.signature = signature
  }

  func make() throws(CommandError) -> Request {
    do throws(CommandError) { return try request() } catch {
      throw CommandError(error.status, "\(command): \(error.message)")
    }
  }

  private func request() throws(CommandError) -> Request {
    let data = try data()
    guard jar != nil || !CookieOptions.hasFile(arguments) else {
      throw CommandError(.usage, "-b: expected NAME=VALUE; \"\(command)\" reads no cookies from a file")
    }
    let given = try GivenFields(arguments.allBytes("header"))
    var request = Request(method: try method(), url: try url(data, given))
    request.body = data.body
    try addFields(of: data, to: &request, besides: given)
    given.apply(to: &request)
    chooseCoding(of: &request, given)
    if given.contains("authorization") { signature?.turnOff() } else { try signature?.check(request) }
    trustOtherHosts(&request)
    do { try request.validate() } catch { throw CommandError(.usage, "\(error)") }
    return request
  }

  private func data() throws(CommandError) -> SendData {
    let limitBytes = configuration.transport.maximumHeldRequestBytes
    guard let contents else { return try SendData(arguments, limitBytes: limitBytes, streamsInput: false) }
    return try contents.data(arguments, limitBytes: limitBytes)
  }

  /// Decides whether the body is decoded. A file gets what the server sent, as with curl, unless `--compressed` is
  /// given. That option also asks for a coding where the transport asks for none by itself.
  private func chooseCoding(of request: inout Request, _ given: GivenFields) {
    if arguments.has("no-compressed") || OutputPath.isFile(arguments) && !arguments.has("compressed") {
      request.options.decodesContent = false
    } else if arguments.has("compressed"), configuration.transport.decodesContent, !given.contains("accept-encoding") {
      request.headers["accept-encoding"] = ContentCoding.acceptEncoding
    }
  }

  /// Adds the fields that options other than `-H` build, unless `-H` gives or removes them.
  private func addFields(
    of data: SendData, to request: inout Request, besides given: GivenFields
  ) throws(CommandError) {
    if let referer = arguments.bytes("referer"), referer.suffix(5).elementsEqual(";auto".utf8) {
      throw CommandError(.usage, "-e: \";auto\" is not available: redirects set no Referer")
    }
    let range = arguments.bytes("range").map { Self.completed(range: $0) }
    let fields: [(name: String, value: [UInt8]?)] = [
      ("content-type", data.contentType.map { Array($0.utf8) }), ("accept", data.accept.map { Array($0.utf8) }),
      ("user-agent", arguments.bytes("user-agent")), ("referer", arguments.bytes("referer")),
      ("range", self.range.map { Array($0.utf8) } ?? Self.prefixed("bytes=", range)),
      ("authorization", Self.prefixed("Bearer ", arguments.bytes("oauth2-bearer"))),
      ("cookie", CookieOptions.given(arguments)),
    ]
    // As with curl, an empty value removes the default field of the name.
    for case (let name, let value?) in fields where !given.contains(name) {
      if value.isEmpty {
        GivenFields.remove(Array(name.utf8), from: &request)
      } else {
        GivenFields.append(Array(name.utf8), value, to: &request.headers)
      }
    }
  }

  private static func prefixed(_ prefix: String, _ value: [UInt8]?) -> [UInt8]? {
    value.map { $0.isEmpty ? [] : Array(prefix.utf8) + $0 }
  }

  /// As with curl, `600` means `600-`, and what follows a number without a dash is ignored.
  private static func completed(range: [UInt8]) -> [UInt8] {
    let dash = UInt8(ascii: "-")
    let number = range.prefix { (0x30...0x39).contains($0) }
    return number.isEmpty || range.contains(dash) ? range : number + [dash]
  }

  private func method() throws(CommandError) -> String {
    let operand = arguments.operands.count == 2 ? arguments.operands[0] : nil
    let given = [operand, arguments["request"]].compactMap(\.self)
    guard Set(given).count <= 1 else {
      throw CommandError(.usage, "the method is given as \(given.joined(separator: " and as ")); give it once")
    }
    return given.first ?? (arguments.has("head") ? "HEAD" : SendData.method(arguments))
  }

  /// The URL as it was typed, with the data of `-G` added.
  private func completed(_ data: SendData) throws(CommandError) -> String {
    var text = text
    let fragment = text.firstIndex(of: "#").map { String(text[$0...]) } ?? ""
    text.removeLast(fragment.count)
    for query in data.queries {
      guard let query = ArgumentWord(query).text else {
        throw CommandError(.usage, "-G: the data is not UTF-8; use --data-urlencode")
      }
      let mark = !text.contains("?") ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&"
      text += mark + query
    }
    return text + fragment
  }

  private func url(_ data: SendData, _ given: GivenFields) throws(CommandError) -> HTTPURL {
    let text = try completed(data)
    var url: HTTPURL
    do {
      url = try TypedURL.resolve(text, against: configuration.baseURL)
      // As with curl, the name of the uploaded file completes a path that ends with a slash.
      if let name = data.uploadName, url.path.hasSuffix("/") {
        url = try url.withPath(url.path + PercentCoding.encoded(name))
      }
    } catch {
      throw CommandError(.usage, "\(error)")
    }
    // With a signature, `-u` gives the id and the secret of the key. They are not sent as user and password.
    guard !arguments.has("aws-sigv4") else { return url.withoutUserInfo }
    guard let credentials = credentials(for: url) else {
      for name in ["digest", "anyauth"] where arguments.has(name) && url.userInfo == nil {
        throw CommandError(.usage, "--\(name) needs -u USER:PASSWORD")
      }
      return given.contains("authorization") ? url.withoutUserInfo : url
    }
    guard !given.contains("authorization") else { return url.withoutUserInfo }
    return url.withUserInfo(HTTPURL.userInfo(user: credentials.user.span, password: credentials.password.span))
  }

  /// With `--location-trusted`, sends the credentials of `-u` as a header. Other hosts get this header too. Credentials
  /// in a URL, including those from a netrc file, are sent only to the host of the URL.
  private func trustOtherHosts(_ request: inout Request) {
    guard arguments.has("location-trusted"), arguments.has("user"), !arguments.has("digest"), !arguments.has("anyauth"),
      let credentials = request.url.credentials, !request.headers.contains("authorization")
    else { return }
    request.headers["authorization"] = credentials.basic
  }

  /// The credentials of `-u` or of the netrc file. If it is nil, the URL stays unchanged.
  private func credentials(for url: HTTPURL) -> Credentials? {
    if let given = arguments.bytes("user") {
      let user = given.prefix { $0 != UInt8(ascii: ":") }
      return Credentials(user: Array(user), password: Array(given.dropFirst(user.count + 1)))
    }
    guard let netrc, url.userInfo?.contains(":") != true else { return nil }
    let user = url.credentials?.user
    guard let entry = netrc.entry(for: url.host, user: user) else { return nil }
    return Credentials(user: user ?? entry.user ?? [], password: entry.password ?? [])
  }
}
