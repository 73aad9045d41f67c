import SluiceMessages
import SluicePluginHost

/// The record that the crash handler (`crash_handler.c`) has written, line by line.
///
///     sluice crash record 1
///     time 1763762400.123456789
///     process 4711
///     thread 4713 sluice-loop-0
///     signal 11 1 8                        number, si_code, address in hex
///     access read                          where the processor says
///     counter 7f00deadbeef                 of the instruction
///     handler 55d0deadbeef                 of the host's own code
///     call here 4713 0 0 <32 hex digits>   or "call elsewhere": thread, callback, attempt, transaction
///      name sluice-loop-0
///      stage auth
///      plugin bearer-auth
///      generation 3
///      hash <64 hex digits>
///      library plugins/libauth.so
///      copy /home/…/plugin.so
///     frame 7f00deadbeef                   from the inside to the outside
///     known                                every build and instance so far, members as above
///     maps
///     …/proc/self/maps…
///     end of crash record
///
/// The reader trusts no value in the record, because a broken process wrote it.
struct CrashRecord: Sendable {
  /// One build, and its instance if it has one.
  struct Subject: Sendable, Hashable {
    var stage = ""
    var plugin = ""
    var generation = 0
    var hash = ""
    var library = ""
    var copy = ""
  }

  struct Call: Sendable {
    let isHere: Bool
    let thread: Int32
    var threadName = ""
    let callback: PluginCallback?
    let attempt: Int
    let transaction: TransactionID?
    var subject = Subject()
  }

  /// The handler writes at most this many frames.
  static let maximumFrames = 128
  static let firstLine = "sluice crash record 1"
  static let lastLine = "end of crash record"

  /// Since 1970-01-01T00:00:00Z.
  private(set) var time = Duration.zero
  private(set) var process: Int32 = 0
  private(set) var thread: Int32 = 0
  private(set) var threadName = ""
  private(set) var signal: Int32 = 0
  private(set) var code: Int32 = 0
  private(set) var address: UInt64 = 0
  private(set) var access: String?
  private(set) var counter: UInt64 = 0
  private(set) var handler: UInt64 = 0
  private(set) var calls: [Call] = []
  private(set) var frames: [UInt64] = []
  private(set) var known: [Subject] = []
  private(set) var map = MemoryMap([])
  /// False if the handler did not finish.
  private(set) var isComplete = false

  /// nil if the bytes are not a record, or empty.
  init?(_ bytes: some Collection<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
    guard lines.first.map(String.init) == Self.firstLine else { return nil }
    let head = lines.prefix { $0 != "maps" }
    var isInKnown = false
    for line in head.dropFirst() {
      let parts = line.drop { $0 == " " }.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      let (key, value) = (parts[0], parts.count > 1 ? String(parts[1]) : "")
      if line.hasPrefix(" ") {
        readMember(key, value, ofKnown: isInKnown)
      } else {
        isInKnown = key == "known"
        read(key, value)
      }
    }
    isComplete = lines.last.map(String.init) == Self.lastLine
    map = MemoryMap(lines.dropFirst(head.count))
  }

  private mutating func read(_ key: Substring, _ value: String) {
    let words = value.split(separator: " ")
    let number = words.first.flatMap { Int32($0) } ?? 0
    switch key {
    case "time":
      let parts = value.split(separator: ".").compactMap { Int64($0) }
      // With a higher number of seconds, the Duration would overflow.
      if parts.count == 2, (0..<1 << 40).contains(parts[0]), (0..<1_000_000_000).contains(parts[1]) {
        time = .seconds(parts[0]) + .nanoseconds(parts[1])
      }
    case "process": process = number
    case "thread":
      thread = number
      threadName = words.dropFirst().joined(separator: " ")
    case "signal" where words.count == 3:
      signal = number
      code = Int32(words[1]) ?? 0
      address = UInt64(words[2], radix: 16) ?? 0
    case "access": access = value
    case "counter": counter = UInt64(value, radix: 16) ?? 0
    case "handler": handler = UInt64(value, radix: 16) ?? 0
    case "call" where words.count == 5: calls.append(Call(words))
    case "frame": frames.append(UInt64(value, radix: 16) ?? 0)
    case "known": known.append(Subject())
    default: break
    }
  }

  private mutating func readMember(_ key: Substring, _ value: String, ofKnown isKnown: Bool) {
    guard isKnown ? !known.isEmpty : !calls.isEmpty else { return }
    if isKnown {
      known[known.count - 1].set(key, value)
    } else if key == "name" {
      calls[calls.count - 1].threadName = value
    } else {
      calls[calls.count - 1].subject.set(key, value)
    }
  }
}

extension CrashRecord.Subject {
  fileprivate mutating func set(_ key: Substring, _ value: String) {
    switch key {
    case "stage": stage = value
    case "plugin": plugin = value
    case "generation": generation = Int(value) ?? 0
    case "hash": hash = value
    case "library": library = value
    case "copy": copy = value
    default: break
    }
  }
}

extension CrashRecord.Call {
  fileprivate init(_ words: [Substring]) {
    isHere = words[0] == "here"
    thread = Int32(words[1]) ?? 0
    callback = UInt8(words[2]).flatMap { PluginCallback(rawValue: $0) }
    attempt = Int(words[3]) ?? 0
    let digits = words[4]
    let high = UInt64(digits.prefix(16), radix: 16) ?? 0
    let low = UInt64(digits.dropFirst(16), radix: 16) ?? 0
    // This initializer sets the version and variant bits of a UUID. It changes nothing here, because these bits are the
    // same in every id.
    transaction = high == 0 && low == 0 ? nil : TransactionID(randomHigh: high, randomLow: low)
  }
}
