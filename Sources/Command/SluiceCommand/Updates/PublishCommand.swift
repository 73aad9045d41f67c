import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceUpdate
import SluiceUpdateRules

/// `sluice publish`: the publisher's side of signed releases.
enum PublishCommand {
  private static let channel = Option("channel", nil, "NAME", "The channel (default stable)")
  private static let key = Option("key", nil, "FILE", "Sign with this private key; may be repeated")
  private static let signWith = Option(
    "sign-with", nil, "CMD",
    "Sign with a shell command: payload on its standard input, signature on its output; may be repeated")
  private static func expires(_ text: String) -> Option {
    Option("expires", nil, "DURATION", "How long it is valid (default \(text))")
  }

  /// The defaults of `--expires`.
  private static let (rootLife, releaseLife, timestampLife) = (
    Duration.seconds(365 * 86400), Duration.seconds(90 * 86400), Duration.seconds(86400)
  )

  static let newKey = CommandDescription(
    "publish key", summary: "Make a key for signing releases", operands: "FILE", operandCount: 1...1,
    details: "Writes the private key to FILE, which only you can read, and the public key to FILE.pub.",
    run: { arguments throws(CommandError) in
      try guarded("publish key") { () throws(UpdateError) in
        let key = try makeKey(arguments.operands[0])
        return "key \(key.id.hex)\n"
      }
    })

  static let begin = CommandDescription(
    "publish init", summary: "Begin a repository of signed releases", operands: "FOLDER", operandCount: 1...1,
    details: """
      The first root names the keys of three roles: root, release and timestamp. "--keys DIR" makes them: three for root
      and three for release, of which two must sign, and one for timestamp. Keep the keys of root and release apart, and
      not on the server. Clients need a copy of FOLDER/root.json.
      """,
    options: [
      Option("keys", nil, "DIR", "Make the keys, as files in this folder"),
      Option("add", nil, "ROLE=FILE", "A public key of root, release or timestamp; may be repeated"),
      Option("threshold", nil, "ROLE=N", "How many keys of a role must sign (default 2, timestamp 1); may be repeated"),
      key, signWith, expires("8760h"),
    ],
    run: { arguments throws(CommandError) in
      try guarded("publish init") { () throws(UpdateError) in try begin(arguments) }
    })

  static let add = CommandDescription(
    "publish add", summary: "Put builds of plugins into the next release", operands: "FOLDER [LIBRARY]...",
    operandCount: 1...1000,
    details: """
      The next release begins with the plugins of the last one. A library takes the place of the build with the same id
      and machine. The release is a draft until it is signed.
      """,
    options: [
      channel, Option("id", nil, "ID", "The id of the plugin (default: the file's name without lib and .so)"),
      Option("plugin-version", nil, "VERSION", "The plugin's version (default: from the library)"),
      Option("remove", nil, "ID", "Take a plugin out; may be repeated"),
      Option("revoke", nil, "SHA256", "Forbid a build: engines stop using it; may be repeated"),
      Option("allow", nil, "SHA256", "Take back --revoke; may be repeated"),
      Option("from", nil, "N", "Begin with the plugins of release N, for example to go back to it"),
      Option("min-abi", nil, "N", "The lowest ABI of hosts that can install the release"), expires("2160h"),
    ],
    run: { arguments throws(CommandError) in
      try guarded("publish add") { () throws(UpdateError) in try add(arguments) }
    })

  static let sign = CommandDescription(
    "publish sign", summary: "Sign the next release, and publish it when enough keys have signed", operands: "FOLDER",
    operandCount: 1...1,
    details: "Several people can sign one after the other, on their own machines, with copies of FOLDER.",
    options: [channel, key, signWith],
    run: { arguments throws(CommandError) in
      try guarded("publish sign") { () throws(UpdateError) in
        let publication = try Publication(opening: arguments.operands[0])
        let progress = try publication.sign(channelName(arguments), try signers(arguments))
        return words(progress, "release", next: "sluice publish timestamp")
      }
    })

  static let timestamp = CommandDescription(
    "publish timestamp", summary: "Publish the newest release to clients", operands: "FOLDER", operandCount: 1...1,
    details: """
      Clients take a release when a timestamp names it, and notice withheld updates when the timestamp expires. Run it again
      before that, for example each hour. A timestamp is valid for at most 72 hours.
      """,
    options: [channel, key, signWith, expires("24h")],
    run: { arguments throws(CommandError) in
      try guarded("publish timestamp") { () throws(UpdateError) in
        let publication = try Publication(opening: arguments.operands[0])
        let timestamp = try publication.stamp(
          channelName(arguments), try signers(arguments), at: Updater.now(), life: try life(arguments, timestampLife))
        return "timestamp \(timestamp.version) names release \(timestamp.releaseVersion) until \(timestamp.expires)\n"
      }
    })

  static let rotate = CommandDescription(
    "publish rotate", summary: "Change the keys of a repository", operands: "FOLDER", operandCount: 1...1,
    details: """
      Makes the next root. It is published when enough keys of the old and of the new root have signed; without --add,
      --remove, --threshold and --expires, signatures are added to a root that waits for them.
      """,
    options: [
      Option("add", nil, "ROLE=FILE", "Add a public key to root, release or timestamp; may be repeated"),
      Option("remove", nil, "ROLE=KEY", "Remove a key by its id or its public file; may be repeated"),
      Option("threshold", nil, "ROLE=N", "How many keys of a role must sign; may be repeated"), key, signWith,
      expires("8760h"),
    ],
    run: { arguments throws(CommandError) in
      try guarded("publish rotate") { () throws(UpdateError) in try rotate(arguments) }
    })

  static let show = CommandDescription(
    "publish show", summary: "Show the keys, releases and drafts of a repository", operands: "FOLDER",
    operandCount: 1...1,
    run: { arguments throws(CommandError) in
      try guarded("publish show") { () throws(UpdateError) in
        try PublicationText(try Publication(opening: arguments.operands[0])).text()
      }
    })

  // MARK: Work

  private static func begin(_ arguments: ParsedArguments) throws(UpdateError) -> String {
    let now = Updater.now()
    var root = RootDocument(
      version: 1, created: now, expires: now + (try life(arguments, rootLife)), keys: [:],
      roles: [
        .root: .init(keys: [], threshold: 2), .release: .init(keys: [], threshold: 2),
        .timestamp: .init(keys: [], threshold: 1),
      ])
    var made: [SigningKey] = []
    for (role, file) in try pairs(arguments, "add") { try insert(try PublicKeyFile.read(file), role, &root) }
    for (role, text) in try pairs(arguments, "threshold") { root.roles[role]?.threshold = try threshold(text) }
    if let folder = arguments["keys"] {
      let counts = [(UpdateRole.root, 3), (.release, 3), (.timestamp, 1)].filter { root.keys(of: $0.0).keys.isEmpty }
      // The thresholds are checked before any key is made. Otherwise the next call would fail, because the key files of
      // the failed call would exist.
      for (role, count) in counts where root.keys(of: role).threshold > count {
        throw UpdateError(
          .usage, "--threshold \(role.rawValue)=\(root.keys(of: role).threshold)",
          "--keys makes only \(count) \(count == 1 ? "key" : "keys") of this role",
          advice: "make more with \"sluice publish key\", and name them with --add \(role.rawValue)=FILE")
      }
      try DurableFile.makeFolder(folder)
      for (role, count) in counts {
        for number in 1...count {
          let name = count == 1 ? role.rawValue : "\(role.rawValue)-\(number)"
          let key = try makeKey("\(folder)/\(name).key")
          if role == .root { made.append(key) }
          try insert(key.publicKey, role, &root)
        }
      }
    }
    for role in UpdateRole.allCases where root.keys(of: role).keys.isEmpty {
      throw UpdateError(
        .usage, "role \(role.rawValue)", "it has no keys",
        advice: "make keys with --keys DIR, or name a public one with --add \(role.rawValue)=FILE")
    }
    // The document is parsed again, because clients parse it in the same way and must accept it.
    root = try RootDocument(payload: root.payload)
    _ = try Publication.create(
      arguments.operands[0], root: root, signers: made + (try signers(arguments, isRequired: made.isEmpty)))
    return
      "\(arguments.operands[0])/root.json is the first root; give a copy of it to clients; next: sluice publish add\n"
  }

  private static func add(_ arguments: ParsedArguments) throws(UpdateError) -> String {
    let publication = try Publication(opening: arguments.operands[0])
    let libraries = arguments.operands.dropFirst()
    let changes = ["remove", "revoke", "allow", "from", "min-abi"]
    guard !libraries.isEmpty || changes.contains(where: arguments.has) else {
      throw UpdateError(
        .usage, "the release", "no change was requested",
        advice: "name a library, or use --remove, --revoke, --allow, --from or --min-abi")
    }
    guard libraries.count == 1 || (!arguments.has("id") && !arguments.has("plugin-version")) else {
      throw UpdateError(
        .usage, "--id and --plugin-version", "they are for one library", advice: "add the libraries one after the other"
      )
    }
    var targets: [ReleaseTarget] = []
    for library in libraries {
      targets.append(
        try publication.target(
          library, id: arguments["id"] ?? defaultID(library), version: arguments["plugin-version"]))
    }
    let older = try arguments["from"].map { text throws(UpdateError) in
      guard let version = Int64(text), let release = try publication.release(version, of: channelName(arguments)) else {
        throw UpdateError(.usage, "--from \(text)", "there is no such release in channel \"\(channelName(arguments))\"")
      }
      return release
    }
    let minimumABI = try arguments["min-abi"].map { text throws(UpdateError) in
      guard let abi = UInt32(text), abi > 0 else {
        throw UpdateError(
          .usage, "--min-abi", "expected a number from 1 to \(UInt32.max), found \(PlainText.quote(text))")
      }
      return abi
    }
    let (revoked, allowed) = (try hashes(arguments, "revoke"), try hashes(arguments, "allow"))
    let draft = try publication.edit(
      channelName(arguments), at: Updater.now(), life: try life(arguments, releaseLife)
    ) { draft throws(UpdateError) in
      if let older { draft.targets = older.targets }
      for id in arguments.all("remove") {
        guard draft.targets.contains(where: { $0.id == id }) else {
          throw UpdateError(.usage, "--remove \(id)", "the release has no such plugin")
        }
        draft.targets.removeAll { $0.id == id }
      }
      for target in targets {
        draft.targets.removeAll { $0.id == target.id && $0.architecture == target.architecture }
        draft.targets.append(target)
      }
      draft.revoked = draft.revoked.union(revoked).subtracting(allowed)
      draft.minimumABI = minimumABI ?? draft.minimumABI
    }
    return PublicationText.release(draft, "draft of release \(draft.version)") + "next: sluice publish sign\n"
  }

  private static func rotate(_ arguments: ParsedArguments) throws(UpdateError) -> String {
    let publication = try Publication(opening: arguments.operands[0])
    var rotations: [UpdateRole: Publication.Rotation] = [:]
    func change(_ role: UpdateRole, _ body: (inout Publication.Rotation) -> Void) {
      body(&rotations[role, default: Publication.Rotation(role)])
    }
    for (role, file) in try pairs(arguments, "add") {
      let key = try PublicKeyFile.read(file)
      change(role) { $0.added.append(key) }
    }
    for (role, text) in try pairs(arguments, "remove") {
      let id = try keyID(text)
      change(role) { $0.removed.append(id) }
    }
    for (role, text) in try pairs(arguments, "threshold") {
      let number = try threshold(text)
      change(role) { $0.threshold = number }
    }
    let draft = try publication.draftRoot()
    if draft == nil || !rotations.isEmpty || arguments.has("expires") {
      try publication.rotate(
        UpdateRole.allCases.compactMap { rotations[$0] }, at: Updater.now(), life: try life(arguments, rootLife))
    }
    let signers = try signers(arguments, isRequired: draft != nil && rotations.isEmpty)
    let progress = try publication.signRoot(signers)
    return words(
      progress, "root",
      next: "if keys of release or timestamp have changed, sign a release and a timestamp; then copy "
        + "\(arguments.operands[0]) to the mirrors")
  }

  // MARK: Arguments

  private static func guarded(
    _ name: String, _ work: () throws(UpdateError) -> String
  ) throws(CommandError) -> ExitStatus {
    let text: String
    do { text = try work() } catch {
      throw CommandError(error.code == .usage ? .usage : .failed, "\(name): \(error)")
    }
    try StandardOutput.write(PrintableText.of(text))
    return .succeeded
  }

  private static func channelName(_ arguments: ParsedArguments) -> String { arguments["channel"] ?? "stable" }

  private static func makeKey(_ file: String) throws(UpdateError) -> SigningKey {
    let key = try SigningKey.make()
    try key.write(to: file)
    try key.writePublicKey(to: "\(file).pub")
    return key
  }

  private static func insert(
    _ key: [UInt8], _ role: UpdateRole, _ root: inout RootDocument
  ) throws(UpdateError) {
    let id = try KeyID(of: key)
    root.keys[id] = key
    root.roles[role]?.keys.insert(id)
  }

  private static func signers(
    _ arguments: ParsedArguments, isRequired: Bool = true
  ) throws(UpdateError) -> [any DocumentSigner] {
    var signers: [any DocumentSigner] = []
    for file in arguments.all("key") { signers.append(try SigningKey(file: file)) }
    for command in arguments.all("sign-with") { signers.append(SigningCommand(command)) }
    guard !signers.isEmpty || !isRequired else {
      throw UpdateError(.usage, "a signature", "expected --key FILE or --sign-with CMD")
    }
    return signers
  }

  private static func life(_ arguments: ParsedArguments, _ usual: Duration) throws(UpdateError) -> Duration {
    let given: Duration?
    do { given = try arguments.duration("expires") } catch { throw UpdateError(.usage, "a duration", error.message) }
    guard let given else { return usual }
    guard given >= .seconds(1) else { throw UpdateError(.usage, "--expires", "expected at least 1s") }
    return given
  }

  /// Splits options of the form ROLE=VALUE.
  private static func pairs(
    _ arguments: ParsedArguments, _ name: String
  ) throws(UpdateError) -> [(UpdateRole, String)] {
    var pairs: [(UpdateRole, String)] = []
    for text in arguments.all(name) {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let role = UpdateRole(rawValue: String(parts[0])), !parts[1].isEmpty else {
        throw UpdateError(
          .usage, "--\(name)", "expected root=…, release=… or timestamp=…, found \(PlainText.quote(text))")
      }
      pairs.append((role, String(parts[1])))
    }
    return pairs
  }

  private static func threshold(_ text: String) throws(UpdateError) -> Int {
    guard let number = Int(text), (1...64).contains(number) else {
      throw UpdateError(.usage, "--threshold", "expected a number from 1 to 64, found \(PlainText.quote(text))")
    }
    return number
  }

  private static func keyID(_ text: String) throws(UpdateError) -> KeyID {
    if let id = KeyID(hex: text) { return id }
    return try KeyID(of: try PublicKeyFile.read(text))
  }

  private static func hashes(_ arguments: ParsedArguments, _ name: String) throws(UpdateError) -> [String] {
    for text in arguments.all(name) where KeyID(hex: text) == nil {
      throw UpdateError(
        .usage, "--\(name)",
        "expected the SHA-256 of a build, 64 hex digits in lower case, found \(PlainText.quote(text))")
    }
    return arguments.all(name)
  }

  /// The id of a plugin, taken from the path of its library: `auth` for `plugins/libauth.so`.
  private static func defaultID(_ library: String) -> String {
    var name = library.split(separator: "/").last.map { String($0) } ?? library
    if name.hasSuffix(".so") { name.removeLast(3) }
    if name.hasPrefix("lib") { name.removeFirst(3) }
    return name
  }

  private static func words(_ progress: Publication.Progress, _ what: String, next: String) -> String {
    switch progress {
    case .published(let version): "\(what) \(version) is signed; next: \(next)\n"
    case .waiting(let signed, let needed): "\(what): \(signed) of \(needed) signatures; more are needed\n"
    }
  }
}
