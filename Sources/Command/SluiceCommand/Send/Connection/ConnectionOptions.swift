import Glibc
import Sluice
import SluiceMessages
import SluicePipeline

/// The options that say where sockets connect to, and from which address.
enum ConnectionOptions {
  static func apply(_ arguments: ParsedArguments, to configuration: inout Configuration) throws(CommandError) {
    var sockets = SocketSettings()
    if arguments.has("ipv4"), arguments.has("ipv6") { throw CommandError(.usage, "send: give either -4 or -6") }
    if arguments.has("ipv4") { sockets.family = .ipv4 }
    if arguments.has("ipv6") { sockets.family = .ipv6 }
    for value in arguments.all("resolve") { try resolve(value, &sockets) }
    for value in arguments.all("connect-to") { sockets.detours.append(try detour(value)) }
    if let name = arguments["interface"] { sockets.source = try source(name) }
    configuration.transport.sockets = sockets
  }

  /// `HOST:PORT:ADDRESS[,ADDRESS]...`; the host `*` means any host. A leading plus sign is ignored. In curl, this sign
  /// lets the address expire some time later. This is not needed here, because a request ends before that.
  private static func resolve(_ value: String, _ sockets: inout SocketSettings) throws(CommandError) {
    let parts = fields(value.hasPrefix("+") ? value.dropFirst() : Substring(value), limit: 3)
    guard parts.count == 3, let host = parts[0], let port = parts[1].flatMap(UInt16.init), let list = parts[2] else {
      throw CommandError(
        .usage, "send: --resolve: expected HOST:PORT:ADDRESS[,ADDRESS]..., found \(PlainText.quote(value))")
    }
    let addresses = list.split(separator: ",").map { bare($0) }
    guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress.isValid($0) }) else {
      throw CommandError(
        .usage,
        "send: --resolve: expected IPv4 or IPv6 addresses with commas between them, found \(PlainText.quote(list))")
    }
    sockets.addresses[SocketSettings.Place(host: host == "*" ? "" : host.lowercased(), port: port)] = addresses
  }

  /// `HOST:PORT:TO-HOST:TO-PORT`; each part can be empty.
  private static func detour(_ value: String) throws(CommandError) -> SocketSettings.Detour {
    let parts = fields(Substring(value), limit: 4)
    let ports = parts.count == 4 ? [parts[1], parts[3]].map { $0.map { UInt16($0) ?? 0 } } : []
    guard parts.count == 4, !ports.contains(0) else {
      throw CommandError(
        .usage, "send: --connect-to: expected HOST:PORT:TO-HOST:TO-PORT, found \(PlainText.quote(value))")
    }
    return SocketSettings.Detour(
      host: parts[0]?.lowercased(), port: ports[0], toHost: parts[2]?.lowercased(), toPort: ports[1])
  }

  /// The fields between colons; nil for an empty field. An IPv6 address in brackets is one field. The last field
  /// contains all text that is left.
  private static func fields(_ text: Substring, limit: Int) -> [String?] {
    var (fields, rest) = ([String?](), text)
    while fields.count < limit - 1 {
      let isBracketed = rest.first == "["
      let end = isBracketed ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":")
      guard let end, end < rest.endIndex, rest[end] == ":" else { return fields }
      fields.append(end == rest.startIndex ? nil : bare(rest[..<end]))
      rest = rest[rest.index(after: end)...]
    }
    return fields + [rest.isEmpty ? nil : bare(rest)]
  }

  private static func bare(_ text: Substring) -> String {
    text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
  }

  private static func source(_ name: String) throws(CommandError) -> SocketSettings.Source {
    if IPAddress.isValid(name) { return .address(name) }
    let plain = name.hasPrefix("if!") ? String(name.dropFirst(3)) : name
    guard !plain.isEmpty, if_nametoindex(plain) != 0 else {
      throw CommandError(
        .usage,
        "send: --interface: this machine has no interface \(PlainText.quote(plain)); name one, or a local address")
    }
    return .interface(plain)
  }
}

/// Checks numeric addresses.
private enum IPAddress {
  static func isValid(_ text: String) -> Bool {
    var storage = in6_addr()
    return inet_pton(AF_INET, text, &storage) == 1 || inet_pton(AF_INET6, text, &storage) == 1
  }
}
