import Glibc
import Sluice
import SluiceIDNA
import SluiceMessages
import SluiceTransport

/// The request that the arguments of `send` describe.
struct SendRequest {
  private let arguments: ParsedArguments
  private let configuration: Configuration

  init(_ arguments: ParsedArguments, _ configuration: Configuration) {
    self.arguments = arguments
    self.configuration = configuration
  }

  func make() throws(CommandError) -> Request {
    let data = try SendData(arguments, limitBytes: configuration.transport.maxRequestBytes)
    var request = Request(method: try method(hasData: data.contentType != nil || data.isGiven), url: try url())
    request.body = data.body
    if let type = data.contentType { request.headers["content-type"] = type }
    for header in arguments.all("header") { try add(header, to: &request.headers) }
    do { try request.validate() } catch { throw CommandError(.usage, "send: \(error)") }
    return request
  }

  private func method(hasData: Bool) throws(CommandError) -> String {
    let operand = arguments.operands.count == 2 ? arguments.operands[0] : nil
    let given = [operand, arguments["request"], arguments.has("head") ? "HEAD" : nil].compactMap(\.self)
    guard Set(given).count <= 1 else {
      throw CommandError(.usage, "send: the method is given as \(given.joined(separator: " and as ")); give it once")
    }
    return given.first ?? (hasData ? "POST" : "GET")
  }

  private func url() throws(CommandError) -> HTTPURL {
    let text = arguments.operands.last ?? ""
    let url: HTTPURL
    do { url = try RelativeReference.resolve(text, against: configuration.baseURL, hosts: .idna) } catch {
      throw CommandError(.usage, "send: \(error)")
    }
    guard let user = arguments["user"] else {
      if url.userInfo != nil { return url }
      for name in ["digest", "anyauth"] where arguments.has(name) {
        throw CommandError(.usage, "send: --\(name) needs -u USER:PASSWORD")
      }
      return url
    }
    guard let colon = user.firstIndex(of: ":") else {
      throw CommandError(.usage, "send: -u: expected USER:PASSWORD, found no colon")
    }
    return url.withUserInfo(
      HTTPURL.userInfo(user: String(user[..<colon]), password: String(user[user.index(after: colon)...])))
  }

  /// Curl's forms: `Name: value`, `Name:` to take a default away, `Name;` for an empty value.
  private func add(_ line: String, to headers: inout HeaderFields) throws(CommandError) {
    if let colon = line.firstIndex(of: ":") {
      let name = String(line[..<colon])
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      if value.isEmpty { headers.remove(name) } else { append(name, String(value), to: &headers) }
    } else if line.hasSuffix(";") {
      append(String(line.dropLast()), "", to: &headers)
    } else {
      throw CommandError(.usage, "send: -H: expected \"NAME: VALUE\", found \"\(PrintableText.of(line))\"")
    }
  }

  private func append(_ name: String, _ value: String, to headers: inout HeaderFields) {
    if name.lowercased() == "content-type" { headers.remove(name) }
    headers.append(name, value)
  }
}
