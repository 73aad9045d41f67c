/// The fields that describe the bytes of a body. They are wrong as soon as a stage has changed the body: digests
/// (RFC 9530, RFC 3230, RFC 1864), and in a response a strong entity tag (RFC 9110 §8.8.3) and the range of a part
/// (§14.4).
///
/// The host removes them from the head and from the trailers. It leaves a field that a signature covers, because a
/// receiver would otherwise not notice that the body is not the signed one. It leaves the range of a request too:
/// without it, a part would replace the whole.
package struct DerivedFields: Sendable, Equatable {
  fileprivate static let digests = ["content-digest", "repr-digest", "digest", "content-md5"]
  private static let range = "content-range"

  /// The names of the fields to remove from the head, in lower case.
  package private(set) var removed: [String] = []
  /// The names of the fields to remove from the trailers.
  package private(set) var removedTrailers: [String] = []
  /// What is left of the field `Trailer` without the removed names; empty if nothing is left, nil if it stays.
  package private(set) var announcement: String?
  /// The names of those that are left because a signature covers them.
  package private(set) var signed: [String] = []
  /// Whether the body is a part that its range no longer describes.
  private var isPart = false
  private let isResponse: Bool

  /// Whether a field describes the bytes of a body.
  package static func contain(_ name: String) -> Bool { digests.contains(name) || name == range || name == "etag" }

  /// - Parameters:
  ///   - isResponse: whether the message is a response.
  ///   - head: returns the values of a field of the message.
  ///   - trailers: returns the values of a field after the body. If the body has not ended yet, there are none.
  package init(isResponse: Bool, head: (String) -> [String], trailers: (String) -> [String]) {
    self.isResponse = isResponse
    let signatures = SignedFields(head, trailers)
    var kept: Set<String> = []
    for name in Self.digests + (isResponse ? ["etag"] : []) + [Self.range] {
      if let first = head(name).first, Self.describes(name, first) {
        if signatures.cover(name) {
          signed.append(name)
        } else {
          if name == Self.range { isPart = true }
          if isResponse || name != Self.range { removed.append(name) }
        }
      }
      let isSigned = signatures.coverTrailer(name)
      let last = trailers(name).first
      if isSigned || last.map({ !Self.describes(name, $0) }) ?? false {
        kept.insert(name)
        if isSigned, last != nil, !signed.contains(name) { signed.append(name) }
      } else if last != nil {
        removedTrailers.append(name)
      }
    }
    let names = head("trailer").flatMap { $0.split(separator: ",") }.map { $0.trimming(while: \.isWhitespace) }
    let left = names.filter { name in
      let name = name.lowercased()
      return !Self.contain(name) || kept.contains(name)
    }
    if left.count < names.count { announcement = left.joined(separator: ", ") }
  }

  /// Whether a field with this value describes the bytes that were replaced. A weak entity tag does not, and neither
  /// does the range of status 416.
  private static func describes(_ name: String, _ value: String) -> Bool {
    switch name {
    case "etag": !value.hasPrefix("W/")
    case range: !value.contains("*/")
    default: true
    }
  }

  /// What the host says about the fields that it leaves, and about a part; nil if there is nothing to say.
  package var warning: String? {
    var parts: [String] = []
    if !signed.isEmpty {
      let names = signed.joined(separator: ", ")
      parts.append(
        "has changed a body, but a signature covers \(names), which still describes the old body; "
          + "change the body before \(isResponse ? "it" : "the request") is signed")
    }
    if isPart, isResponse {
      parts.append(
        "has changed a part of a body, so content-range was removed; remove range from the request, to get all of it")
    } else if isPart {
      parts.append("has changed a part of a body, but content-range still describes the old part; set another one")
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; it ")
  }
}

/// The fields of a message that its signatures cover.
private struct SignedFields {
  private let inputs: [String]
  private let others: [String]

  init(_ head: (String) -> [String], _ trailers: (String) -> [String]) {
    inputs = (head("signature-input") + trailers("signature-input")).map { $0.lowercased() }
    others = (head("signature") + head("authorization")).map { $0.lowercased() }
  }

  func cover(_ name: String) -> Bool {
    if inputs.contains(where: { Self.isComponent(name, ofTrailers: false, in: $0) }) { return true }
    // draft-cavage-http-signatures: headers="date digest". AWS Signature Version 4 and its relatives:
    // SignedHeaders=content-md5;host, Signature=… and, for Azure, SignedHeaders=host;digest&Signature=…
    return others.contains { value in
      Self.isListed(name, in: value, after: "headers=\"", separator: " ", ends: "\"")
        || Self.isListed(name, in: value, after: "signedheaders=", separator: ";", ends: ",&")
    }
  }

  func coverTrailer(_ name: String) -> Bool {
    inputs.contains { Self.isComponent(name, ofTrailers: true, in: $0) }
  }

  private static func isListed(
    _ name: String, in value: String, after start: String, separator: Character, ends: String
  ) -> Bool {
    guard let range = value.firstRange(of: start) else { return false }
    return value[range.upperBound...].prefix { !ends.contains($0) }.split(separator: separator)
      .contains { $0.trimming(while: { $0 == " " }) == name }
  }

  /// Whether a name is in one of the lists of components (RFC 9421 §4.1): `a=("@method" "digest";tr);created=1`. A
  /// component with the parameter `req` is a field of the request that was answered (§2.4), and one with `tr` is a
  /// trailer (§2.1.4).
  private static func isComponent(_ name: String, ofTrailers: Bool, in input: String) -> Bool {
    var rest = Array(input.utf8)[...]
    var isInList = false
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "("): isInList = true
      case UInt8(ascii: ")"): isInList = false
      case UInt8(ascii: "\""):
        let text = string(&rest)
        guard isInList else { break }
        let parameters = parameters(&rest)
        guard text.elementsEqual(name.utf8), !parameters.contains("req") else { break }
        if parameters.contains("tr") == ofTrailers { return true }
      default: break
      }
    }
    return false
  }

  /// Reads the rest of a quoted text.
  private static func string(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
    }
    return text
  }

  /// Reads the parameters after a component, and returns the names of those that are not false.
  private static func parameters(_ rest: inout ArraySlice<UInt8>) -> Set<String> {
    var names: Set<String> = []
    while rest.first == UInt8(ascii: ";") {
      rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") }
      var parameter: [UInt8] = []
      while let byte = rest.first, !" ;)".utf8.contains(byte) {
        rest.removeFirst()
        parameter.append(byte)
        if byte == UInt8(ascii: "\"") { _ = string(&rest) }
      }
      let text = String(decoding: parameter, as: UTF8.self)
      if !text.hasSuffix("=?0") { names.insert(String(text.prefix { $0 != "=" })) }
    }
    return names
  }
}

extension StringProtocol {
  fileprivate func trimming(while isRemoved: (Character) -> Bool) -> SubSequence {
    var rest = self[...]
    while let last = rest.last, isRemoved(last) { rest.removeLast() }
    return rest.drop(while: isRemoved)
  }
}

extension HeaderFields {
  /// Removes the fields that describe a body which is being replaced.
  fileprivate mutating func remove(_ fields: DerivedFields) {
    for name in fields.removed { remove(name) }
    if let left = fields.announcement { self["trailer"] = left.isEmpty ? nil : left }
  }

  /// Removes the trailers that describe the body before stages have changed it. They arrive after the head.
  ///
  /// - Parameter head: the head of the message, from which the fields were removed earlier.
  package mutating func removeDerivedTrailers(isResponse: Bool, head: HeaderFields) -> DerivedFields {
    let fields = DerivedFields(
      isResponse: isResponse, head: { DerivedFields.contain($0) ? [] : head[values: $0] },
      trailers: { [trailers = self] in trailers[values: $0] })
    for name in fields.removedTrailers { remove(name) }
    return fields
  }
}

extension Request {
  /// Removes the fields that describe a body which is being replaced.
  package mutating func removeDerivedFields() -> DerivedFields {
    let fields = DerivedFields(
      isResponse: false, head: { [headers] in headers[values: $0] },
      trailers: { [sharedTrailers] in sharedTrailers?.value[values: $0] ?? [] })
    headers.remove(fields)
    for name in fields.removedTrailers { trailers.remove(name) }
    return fields
  }
}

extension Response {
  /// Removes the fields that describe a body which is being replaced.
  package mutating func removeDerivedFields() -> DerivedFields {
    let fields = DerivedFields(
      isResponse: true, head: { [headers] in headers[values: $0] },
      trailers: { [trailers] in trailers[values: $0] })
    headers.remove(fields)
    for name in fields.removedTrailers { trailers.remove(name) }
    return fields
  }
}

extension HeaderFields {
  /// Changes the fields of a response whose body was decoded: they describe the decoded body then. A strong entity tag
  /// becomes a weak one (RFC 9110 §8.8.1).
  package mutating func describeDecodedBody() {
    for name in ["content-encoding", "content-length"] + DerivedFields.digests { remove(name) }
    if let tag = self["etag"], !tag.hasPrefix("W/") { self["etag"] = "W/\(tag)" }
  }
}
