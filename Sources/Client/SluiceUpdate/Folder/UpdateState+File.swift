import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceUpdateRules

// The file of a state. Its first line has the SHA-256 of the rest, so that damage is noticed. The rest is a JSON
// document.
extension UpdateState {
  private static let mark = "sluice-updates 1 "
  static let limitBytes = 16 << 20

  init(file bytes: [UInt8], at path: String) throws(UpdateError) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw Self.damaged(path, "it has no first line") }
    let (head, body) = (String(decoding: bytes[..<end], as: UTF8.self), Array(bytes[(end + 1)...]))
    guard head.hasPrefix(Self.mark) else {
      throw Self.damaged(path, "it does not begin with \"\(Self.mark)\"")
    }
    guard try head.dropFirst(Self.mark.count) == ContentHash.hex(of: body) else {
      throw Self.damaged(path, "its checksum is wrong")
    }
    do { try self.init(DocumentReader(body, path)) } catch { throw Self.damaged(path, error.reason) }
  }

  var file: [UInt8] {
    get throws(UpdateError) {
      let body = DocumentText.bytes(document)
      return Array("\(Self.mark)\(try ContentHash.hex(of: body))\n".utf8) + body
    }
  }

  private static func damaged(_ path: String, _ reason: String) -> UpdateError {
    UpdateError(
      .state, path, "it is damaged: \(reason); nothing is installed",
      advice: "restore it from a backup; or remove its folder, which begins again with the root of the configuration")
  }

  private init(_ reader: DocumentReader) throws(UpdateError) {
    guard let root = Base64.decode(Array(try reader.string("root").utf8)) else {
      throw reader.malformed("\"root\" is not Base64")
    }
    self.init(
      url: try reader.string("url"), channel: try reader.string("channel"), anchor: try reader.hash("anchor"),
      root: root)
    floors.root = try Self.floor(reader, "rootFloor")
    floors.timestamp = try Self.floor(reader, "timestampFloor")
    floors.release = try Self.floor(reader, "releaseFloor")
    floors.namedRelease = try reader.optionalVersion("namedRelease")
    if let accepted = try reader.optionalObject("accepted") {
      self.accepted = Accepted(
        version: try accepted.version("version"), hash: try accepted.hash("sha256"),
        keys: try accepted.strings("keys", limit: 64).compactMap { KeyID(hex: $0) })
    }
    revoked = Set(try reader.strings("revoked", limit: 16384))
    installed = try reader.optionalVersion("installed")
    for entry in try reader.objects("good", limit: Self.goodLimit) { good.append(try entry.version("version")) }
    if let probation = try reader.optionalObject("probation") {
      var owner: ProcessMark?
      if let process = try probation.optionalObject("process") {
        owner = ProcessMark(
          pid: try process.version("pid"), began: try process.integer("began", 0...Int64.max),
          boot: try process.string("boot"))
      }
      self.probation = Probation(
        release: try probation.version("release"), previous: try probation.optionalVersion("previous"), owner: owner)
    }
    for (hash, reason) in try reader.members("refused", limit: 16384) { refused[hash] = reason.string ?? "" }
    if let held = try reader.optionalObject("held") {
      self.held = Held(release: try held.version("release"), reason: try held.string("reason"))
    }
    if let check = try reader.optionalObject("lastCheck") {
      lastCheck = LastCheck(
        at: try check.moment("at"), outcome: try check.string("outcome"), message: try check.string("message"))
    }
  }

  private static func floor(
    _ reader: DocumentReader, _ key: String
  ) throws(UpdateError) -> TrustFloors.Floor? {
    guard let floor = try reader.optionalObject(key) else { return nil }
    return TrustFloors.Floor(version: try floor.version("version"), created: try floor.moment("created"))
  }

  /// The whole state as the JSON document in the file.
  private var document: JSONValue {
    let document: JSONValue = [
      "url": JSONValue(url), "channel": JSONValue(channel), "anchor": JSONValue(anchor),
      "root": JSONValue(String(decoding: Base64.encode(root), as: UTF8.self)),
      "revoked": .array(of: revoked.sorted()),
      "good": .array(of: good.map { ["version": JSONValue($0)] as JSONValue }),
    ]
    for (key, floor) in [
      ("rootFloor", floors.root), ("timestampFloor", floors.timestamp), ("releaseFloor", floors.release),
    ] {
      document[key] = floor.map { ["version": JSONValue($0.version), "created": JSONValue("\($0.created)")] }
    }
    document["namedRelease"] = floors.namedRelease.map { JSONValue($0) }
    document["accepted"] = accepted.map {
      ["version": JSONValue($0.version), "sha256": JSONValue($0.hash), "keys": .array(of: $0.keys.map(\.hex))]
    }
    describe(in: document)
    if let probation, let owner = probation.owner {
      document["probation"]?["process"] = [
        "pid": JSONValue(owner.pid), "began": JSONValue(owner.began), "boot": JSONValue(owner.boot),
      ]
    }
    return document
  }

  /// Adds those members that both the file and the status of the updater have.
  func describe(in document: JSONValue) {
    document["installed"] = installed.map { JSONValue($0) }
    document["probation"] = probation.map { probation in
      let entry: JSONValue = ["release": JSONValue(probation.release)]
      entry["previous"] = probation.previous.map { JSONValue($0) }
      return entry
    }
    let refused = JSONValue.object()
    for (hash, reason) in self.refused.sorted(by: { $0.key < $1.key }) { refused[hash] = JSONValue(reason) }
    document["refused"] = refused
    document["held"] = held.map { ["release": JSONValue($0.release), "reason": JSONValue($0.reason)] }
    document["lastCheck"] = lastCheck.map {
      ["at": JSONValue("\($0.at)"), "outcome": JSONValue($0.outcome), "message": JSONValue($0.message)]
    }
  }
}

extension DocumentReader {
  func version(_ key: String) throws(UpdateError) -> Int64 { try integer(key, 1...Int64.max) }

  func optionalVersion(_ key: String) throws(UpdateError) -> Int64? {
    isPresent(key) ? try version(key) : nil
  }
}
