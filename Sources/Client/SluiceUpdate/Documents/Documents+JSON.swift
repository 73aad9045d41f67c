import SluiceJSON
import SluiceMessages
package import SluiceUpdateRules

// Reads and writes the payloads of the three roles.

extension RootDocument {
  private static let keyLimit = 64

  /// Reads a payload whose signatures were checked, or the payload of the root that the configuration names.
  package init(payload: [UInt8]) throws(UpdateError) {
    let reader = try DocumentReader(payload, "root")
    try reader.checkFormat()
    let (version, created, expires) = try reader.head()
    var keys: [KeyID: [UInt8]] = [:]
    for (name, value) in try reader.members("keys", limit: Self.keyLimit) {
      guard let bytes = value.string.flatMap({ Base64.decode(Array($0.utf8)) }), bytes.count == 32 else {
        throw reader.malformed("key \(PlainText.quote(name)) is not Base64 of 32 bytes (a public key of Ed25519)")
      }
      let id = try KeyID(of: bytes)
      guard id.hex == name else {
        throw reader.malformed("key \(PlainText.quote(name)) has the wrong id: expected \(id.hex)")
      }
      keys[id] = bytes
    }
    var roles: [UpdateRole: RoleKeys] = [:]
    let members = try reader.object("roles")
    for role in UpdateRole.allCases {
      roles[role] = try Self.role(try members.object(role.rawValue), role, keys)
    }
    self.init(version: version, created: created, expires: expires, keys: keys, roles: roles)
  }

  private static func role(
    _ reader: DocumentReader, _ role: UpdateRole, _ known: [KeyID: [UInt8]]
  ) throws(UpdateError) -> RoleKeys {
    var keys: Set<KeyID> = []
    for name in try reader.strings("keys", limit: keyLimit) {
      guard let key = KeyID(hex: name), known[key] != nil else {
        throw reader.malformed("role \(role.rawValue) names the key \(PlainText.quote(name)), which is not in \"keys\"")
      }
      guard keys.insert(key).inserted else { throw reader.malformed("role \(role.rawValue) names key \(key) twice") }
    }
    guard !keys.isEmpty else { throw reader.malformed("role \(role.rawValue) has no keys") }
    return RoleKeys(keys: keys, threshold: Int(try reader.integer("threshold", 1...Int64(keys.count))))
  }

  package var payload: [UInt8] {
    let keys = JSONValue.object()
    for (id, bytes) in self.keys.sorted(by: { $0.key < $1.key }) {
      keys[id.hex] = JSONValue(String(decoding: Base64.encode(bytes), as: UTF8.self))
    }
    let roles = JSONValue.object()
    for role in UpdateRole.allCases {
      let own = self.keys(of: role)
      roles[role.rawValue] = [
        "keys": .array(of: own.keys.sorted().map(\.hex)), "threshold": JSONValue(Int64(own.threshold)),
      ]
    }
    return DocumentText.bytes([
      "format": 1, "version": JSONValue(version), "created": JSONValue("\(created)"),
      "expires": JSONValue("\(expires)"), "keys": keys, "roles": roles,
    ])
  }
}

extension TimestampDocument {
  package init(payload: [UInt8]) throws(UpdateError) {
    let reader = try DocumentReader(payload, "timestamp")
    try reader.checkFormat()
    let (version, created, expires) = try reader.head()
    let release = try reader.object("release")
    self.init(
      channel: try reader.string("channel"), version: version, created: created, expires: expires,
      releaseVersion: try release.integer("version", 1...Int64.max), releaseHash: try release.hash("sha256"),
      releaseLength: try release.integer("length", 1...Int64(UpdateRole.release.limitBytes)))
  }

  package var payload: [UInt8] {
    DocumentText.bytes([
      "format": 1, "channel": JSONValue(channel), "version": JSONValue(version), "created": JSONValue("\(created)"),
      "expires": JSONValue("\(expires)"),
      "release": [
        "version": JSONValue(releaseVersion), "sha256": JSONValue(releaseHash), "length": JSONValue(releaseLength),
      ],
    ])
  }
}

extension ReleaseDocument {
  private static let (targetLimit, revokedLimit, featureLimit) = (4096, 16384, 64)

  package init(payload: [UInt8]) throws(UpdateError) {
    let reader = try DocumentReader(payload, "release")
    try reader.checkFormat()
    let (version, created, expires) = try reader.head()
    var targets: [ReleaseTarget] = []
    var seen: Set<[String]> = []
    for element in try reader.objects("targets", limit: Self.targetLimit) {
      let target = try ReleaseTarget(element)
      guard seen.insert([target.id, target.architecture, "\(target.abi.upperBound)"]).inserted else {
        throw reader.malformed(
          "plugin \"\(target.id)\" has two builds for \(target.architecture) up to ABI \(target.abi.upperBound)")
      }
      targets.append(target)
    }
    var revoked: Set<String> = []
    for hash in try reader.strings("revoked", limit: Self.revokedLimit) {
      guard KeyID(hex: hash) != nil else {
        throw reader.malformed("\"revoked\" has \(PlainText.quote(hash)), expected 64 hex digits in lower case")
      }
      revoked.insert(hash)
    }
    self.init(
      channel: try reader.string("channel"), version: version, created: created, expires: expires,
      minimumABI: UInt32(try reader.integer("abi", 1...Int64(UInt32.max))), targets: targets, revoked: revoked)
  }

  /// Reads the list `features`, whose length has a limit.
  fileprivate static func features(_ reader: DocumentReader) throws(UpdateError) -> [String] {
    try reader.strings("features", limit: featureLimit)
  }

  package var payload: [UInt8] {
    DocumentText.bytes([
      "format": 1, "channel": JSONValue(channel), "version": JSONValue(version), "created": JSONValue("\(created)"),
      "expires": JSONValue("\(expires)"), "abi": JSONValue(Int64(minimumABI)),
      "targets": .array(of: targets.map(\.document)), "revoked": .array(of: revoked.sorted()),
    ])
  }
}

extension ReleaseTarget {
  fileprivate init(_ reader: DocumentReader) throws(UpdateError) {
    let id = try reader.string("id")
    guard Self.isID(id) else {
      throw reader.malformed(
        "\(PlainText.quote(id)) is not the id of a plugin: expected \(PortableName.description(limit: 128))")
    }
    let abi = try reader.object("abi")
    let low = try abi.integer("min", 1...Int64(UInt32.max))
    let high = try abi.integer("max", low...Int64(UInt32.max))
    self.init(
      id: id, version: PlainText.line(try reader.string("version"), limitBytes: 64),
      architecture: PlainText.line(try reader.string("architecture"), limitBytes: 64),
      abi: UInt32(low)...UInt32(high), sha256: try reader.hash("sha256"),
      length: try reader.integer("length", 1...Self.limitBytes), features: try ReleaseDocument.features(reader))
  }

  fileprivate var document: JSONValue {
    [
      "id": JSONValue(id), "version": JSONValue(version), "architecture": JSONValue(architecture),
      "abi": ["min": JSONValue(Int64(abi.lowerBound)), "max": JSONValue(Int64(abi.upperBound))],
      "sha256": JSONValue(sha256), "length": JSONValue(length), "features": .array(of: features),
    ]
  }
}

extension DocumentReader {
  /// Reads the members with which every payload begins.
  fileprivate func head() throws(UpdateError) -> (version: Int64, created: UpdateMoment, expires: UpdateMoment) {
    let (created, expires) = (try moment("created"), try moment("expires"))
    guard created < expires else { throw malformed("it expires before it was made") }
    return (try integer("version", 1...Int64.max), created, expires)
  }
}
