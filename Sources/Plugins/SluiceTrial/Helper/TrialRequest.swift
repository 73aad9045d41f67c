package import SluiceJSON
import SluiceMessages
import SluicePipeline
package import SluicePluginHost

/// The task of a helper process. The host sends it as one line of JSON over a socket. A configuration can contain
/// secrets, so the line is never passed as an argument or in the environment, which other users of the machine can
/// read.
package struct TrialRequest: Sendable {
  /// One instance to create.
  package struct Instance: Sendable {
    package var name: String
    package var configuration: JSONValue
    /// The configurations of its places, by their keys in the configuration, in order.
    package var places: [(key: String, configuration: JSONValue)]
    /// The state that the previous generation has saved.
    package var state: SavedState?
    /// The id of the plugin that saved the state; nil if the state can be handed over to any plugin.
    package var stateOwner: String?

    package init(
      name: String, configuration: JSONValue = .object(), places: [(key: String, configuration: JSONValue)] = [],
      state: SavedState? = nil, stateOwner: String? = nil
    ) {
      self.name = name
      self.configuration = configuration
      self.places = places
      self.state = state
      self.stateOwner = stateOwner
    }
  }

  /// The private copy that is mapped.
  package var library: String
  /// The library's own path, for messages.
  package var path: String
  /// The task: ``trial``, or the name of a conformance check.
  package var task: String
  package var instances: [Instance]
  /// The seed of the random input.
  package var seed: UInt64
  package var deadline: Duration
  package var limits: TrialLimits
  /// Additional input, which only some tasks need.
  package var payload: JSONValue?

  package static let trial = "trial"
  package static let defaultDeadline = Duration.seconds(10)

  package init(
    library: String, path: String, task: String = Self.trial, instances: [Instance], seed: UInt64 = 0,
    deadline: Duration = Self.defaultDeadline, limits: TrialLimits = TrialLimits(),
    payload: JSONValue? = nil
  ) {
    self.payload = payload
    self.library = library
    self.path = path
    self.task = task
    self.instances = instances
    self.seed = seed
    self.deadline = deadline
    self.limits = limits
  }

  package var subject: PluginError.Subject {
    .plugin(name: instances.count == 1 ? instances.first?.name : nil, path: path)
  }
}

/// The limits of a trial.
package struct TrialLimits: Sendable, Hashable {
  package var processorSeconds: UInt64
  /// The maximum address space, which is larger than the memory in use.
  package var memoryBytes: UInt64
  package var descriptors: UInt64
  /// The maximum size of one file.
  package var fileBytes: UInt64

  package init(
    processorSeconds: UInt64 = 20, memoryBytes: UInt64 = 4 << 30, descriptors: UInt64 = 256,
    fileBytes: UInt64 = 64 << 20
  ) {
    self.processorSeconds = processorSeconds
    self.memoryBytes = memoryBytes
    self.descriptors = descriptors
    self.fileBytes = fileBytes
  }

  /// Returns these limits without a limit of memory if the library has a sanitizer, which reserves more address space
  /// than any machine has memory.
  func allowing(_ sanitizer: LibraryFacts.Sanitizer?) -> TrialLimits {
    var limits = self
    if sanitizer != nil { limits.memoryBytes = .max }
    return limits
  }

  /// Makes the default limits, with a maximum processor time that is not below the deadline.
  init(deadline: Duration) {
    self.init(processorSeconds: max(20, UInt64(clamping: deadline.components.seconds) &+ 1))
  }
}

extension TrialRequest {
  /// The version of the form of a request. It must be increased with a change of the form if a helper and a host of
  /// different versions would then misunderstand each other.
  private static let revision: Int64 = 4

  /// The request as a line, with its line end.
  package var line: [UInt8] {
    let document: JSONValue = [
      "revision": JSONValue(Self.revision), "library": JSONValue(library), "path": JSONValue(path),
      "task": JSONValue(task), "seed": JSONValue(Int64(bitPattern: seed)),
      "deadline": JSONValue(Int64(clamping: deadline.nanoseconds)),
      "processorSeconds": JSONValue(Int64(clamping: limits.processorSeconds)),
      "memoryBytes": JSONValue(Int64(clamping: limits.memoryBytes)),
      "descriptors": JSONValue(Int64(clamping: limits.descriptors)),
      "fileBytes": JSONValue(Int64(clamping: limits.fileBytes)),
    ]
    document["instances"] = .array(
      of: instances.map { instance in
        let member: JSONValue = ["name": JSONValue(instance.name), "configuration": instance.configuration]
        if !instance.places.isEmpty {
          member["places"] = .array(
            of: instance.places.map { ["key": JSONValue($0.key), "configuration": $0.configuration] as JSONValue })
        }
        member["state"] = instance.state.map { JSONValue($0.text) }
        member["stateVersion"] = instance.state.map { JSONValue(Int64($0.version)) }
        member["stateOwner"] = instance.stateOwner.map { JSONValue($0) }
        return member
      })
    document["payload"] = payload
    return ((try? document.serialized()) ?? []) + [UInt8(ascii: "\n")]
  }

  /// Reads a request; nil for a line that a host of this version would not send.
  package init?(line: some Sequence<UInt8>) {
    guard let document = try? JSONValue(parsing: line, options: .allowNUL),
      document["revision"]?.integer == Self.revision,
      let library = document["library"]?.string, let path = document["path"]?.string,
      let task = document["task"]?.string
    else { return nil }
    func number(_ key: String) -> UInt64 { document[key]?.integer.map { UInt64(clamping: $0) } ?? 0 }
    self.init(
      library: library, path: path, task: task,
      instances: document["instances"].map { $0.elements.map(Instance.init) } ?? [],
      seed: document["seed"]?.integer.map { UInt64(bitPattern: $0) } ?? 0,
      deadline: .nanoseconds(Int64(clamping: number("deadline"))),
      limits: TrialLimits(
        processorSeconds: number("processorSeconds"), memoryBytes: number("memoryBytes"),
        descriptors: number("descriptors"), fileBytes: number("fileBytes")),
      payload: document["payload"])
  }
}

extension TrialRequest.Instance {
  fileprivate init(_ document: JSONValue) {
    let version = UInt32(clamping: document["stateVersion"]?.integer ?? 0)
    self.init(
      name: document["name"]?.string ?? "", configuration: document["configuration"] ?? .object(),
      places: document["places"]?.elements.map { ($0["key"]?.string ?? "", $0["configuration"] ?? .object()) } ?? [],
      state: document["state"]?.string.map { SavedState(text: $0, version: version) },
      stateOwner: document["stateOwner"]?.string)
  }
}
