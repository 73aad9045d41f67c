import Glibc
import Sluice
import SluiceIDNA
import SluiceMessages

/// The request that the arguments of `send` describe, or of another command with some of its options.
struct SendRequest {
  private let arguments: ParsedArguments
  private let configuration: Configuration
  private let command: String
  private let text: String

  /// - Parameters:
  ///   - command: begins every error.
  ///   - url: nil takes the last operand.
  init(_ arguments: ParsedArguments, _ configuration: Configuration, command: String = "send", url: String? = nil) {
    self.arguments = arguments
    self.configuration = configuration
    self.command = command
    text = url ?? arguments["url"] ?? arguments.operands.last ?? ""
  }

  func make() throws(CommandError) -> Request {
    do throws(CommandError) { return try request() } catch {
      throw CommandError(error.status, "\(command): \(error.message)")
    }
  }

  private func request() throws(CommandError) -> Request {
    guard !text.isEmpty, !arguments.has("url") || arguments.operands.count < 2 else {
      throw CommandError(.usage, "expected [METHOD] URL, or --url URL")
    }
    let data = try SendData(arguments, limitBytes: configuration.transport.maximumHeldRequestBytes)
    var request = Request(method: try method(), url: try url(data))
    request.body = data.body
    if let type = data.contentType { request.headers["content-type"] = type }
    try addNamedHeaders(to: &request)
    for header in arguments.allBytes("header") { try add(header, to: &request) }
    if let accept = data.accept, !request.headers.contains("accept"), !request.omittedDefaults.contains(.accept) {
      request.headers["accept"] = accept
    }
    if arguments.has("no-compressed") { request.options.decodesContent = false }
    do { try request.validate() } catch { throw CommandError(.usage, "\(error)") }
    return request
  }

  /// The options that set one header each.
  private func addNamedHeaders(to request: inout Request) throws(CommandError) {
    let fields: [(option: String, name: String, prefix: String)] = [
      ("user-agent", "user-agent", ""), ("referer", "referer", ""), ("cookie", "cookie", ""),
      ("range", "range", "bytes="), ("oauth2-bearer", "authorization", "Bearer "),
    ]
    for field in fields {
      guard let value = arguments.bytes(field.option) else { continue }
      if field.option == "cookie", !value.isEmpty, !value.contains(UInt8(ascii: "=")) {
        throw CommandError(
          .usage, "-b: expected NAME=VALUE, found \(PlainText.quote(value.span)); cookies are not read from a file")
      }
      if value.isEmpty {
        try remove(Array(field.name.utf8), from: &request)
      } else {
        append(Array(field.name.utf8), field.prefix.utf8 + value, to: &request.headers)
      }
    }
  }

  private func method() throws(CommandError) -> String {
    let isMethodGiven = arguments.operands.count == (arguments.has("url") ? 1 : 2)
    let operand = isMethodGiven ? arguments.operands[0] : nil
    let given = [operand, arguments["request"], arguments.has("head") ? "HEAD" : nil].compactMap(\.self)
    guard Set(given).count <= 1 else {
      throw CommandError(.usage, "the method is given as \(given.joined(separator: " and as ")); give it once")
    }
    return given.first ?? SendData.method(arguments)
  }

  /// The URL as it was typed, with the data of `-G`, and with the name of the file of `-T`.
  private func completed(_ data: SendData) throws(CommandError) -> String {
    var text = text
    let fragment = text.firstIndex(of: "#").map { String(text[$0...]) } ?? ""
    text.removeLast(fragment.count)
    if let path = data.uploadedFile, text.hasSuffix("/"), let name = path.split(separator: "/").last {
      text += PercentCoding.encoded(String(name))
    }
    if let query = data.query {
      guard let query = ArgumentWord(query).text else {
        throw CommandError(.usage, "-G: the data is not UTF-8; use --data-urlencode")
      }
      let mark = !text.contains("?") ? "?" : text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&"
      text += mark + query
    }
    return text + fragment
  }

  private func url(_ data: SendData) throws(CommandError) -> HTTPURL {
    let text = try completed(data)
    let url: HTTPURL
    do { url = try TypedURL.resolve(text, against: configuration.baseURL) } catch {
      throw CommandError(.usage, "\(error)")
    }
    guard let user = arguments.bytes("user") else {
      if url.userInfo != nil { return url }
      for name in ["digest", "anyauth"] where arguments.has(name) {
        throw CommandError(.usage, "--\(name) needs -u USER:PASSWORD")
      }
      return url
    }
    guard let colon = user.firstIndex(of: UInt8(ascii: ":")) else {
      throw CommandError(.usage, "-u: expected USER:PASSWORD, found no colon")
    }
    let (name, password) = (Array(user[..<colon]), Array(user[(colon + 1)...]))
    return url.withUserInfo(HTTPURL.userInfo(user: name.span, password: password.span))
  }

  /// Curl's forms: `Name: value`, `Name:` to remove a default header, `Name;` for an empty value.
  private func add(_ line: [UInt8], to request: inout Request) throws(CommandError) {
    if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let name = Array(line[..<colon])
      let value = Array(line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
      if value.isEmpty { try remove(name, from: &request) } else { append(name, value, to: &request.headers) }
    } else if line.last == UInt8(ascii: ";") {
      append(Array(line.dropLast()), [], to: &request.headers)
    } else {
      throw CommandError(.usage, "-H: expected \"NAME: VALUE\", found \(PlainText.quote(line.span))")
    }
  }

  /// Removes fields that were given before, and the default field.
  private func remove(_ bytes: [UInt8], from request: inout Request) throws(CommandError) {
    let name = String(decoding: bytes, as: UTF8.self)
    if Self.indispensable.contains(name.lowercased()) {
      throw CommandError(
        .usage,
        "-H: \(PlainText.quote(name)) cannot be removed: a server needs it to tell where the request goes or ends"
      )
    }
    request.headers.remove(named: bytes.span)
    if let field = DefaultFields(named: name) { request.omittedDefaults.insert(field) }
  }

  /// RFC 9112 §3.2 and §6.
  private static let indispensable = ["host", "content-length", "transfer-encoding"]

  private func append(_ name: [UInt8], _ value: [UInt8], to headers: inout HeaderFields) {
    if FieldSyntax.equals(name.span, "content-type") { headers.remove(named: name.span) }
    headers.append(name.span, value.span)
  }
}
