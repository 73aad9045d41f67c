import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The input that a replay's child process gets in addition to the input of every trial.
struct ReplayRequest {
  /// The text of the configuration; its references are resolved in the child, which has the environment of this
  /// process.
  var configuration: String
  /// The path of the configuration file, from which relative paths in it start.
  var file: String?
  /// Where to look up libraries that the configuration gives by name. The child needs this because it may be a program
  /// of another installation.
  var pluginFolder: String?
  /// The private copy of each library, by its path in the configuration.
  var copies: [String: String]
  /// The key with which messages are hashed. All runs that are compared have the same key.
  var key: MessageHash.Key
  /// The time limit for one transaction.
  var patience: Duration
  /// Documents of recorded exchanges, with their index.
  var exchanges: [(index: Int, document: JSONValue)]
  /// Documents of recorded call-outs, each with the index of its exchange, which need not be replayed.
  var callOuts: [(exchange: Int, document: JSONValue)] = []
  /// The response document for call-outs without a recorded answer.
  var answer: JSONValue?

  var document: JSONValue {
    let document: JSONValue = [
      "configuration": JSONValue(configuration), "keyLow": JSONValue(Int64(bitPattern: key.low)),
      "keyHigh": JSONValue(Int64(bitPattern: key.high)), "patience": JSONValue(Int64(clamping: patience.nanoseconds)),
    ]
    document["file"] = file.map { JSONValue($0) }
    document["pluginFolder"] = pluginFolder.map { JSONValue($0) }
    let copies = JSONValue.object()
    for (path, copy) in self.copies { copies[path] = JSONValue(copy) }
    document["copies"] = copies
    document["exchanges"] = .array(
      of: exchanges.map { ["index": JSONValue(Int64($0.index)), "exchange": $0.document] })
    document["callOuts"] = .array(
      of: callOuts.map { ["index": JSONValue(Int64($0.exchange)), "call": $0.document] })
    document["answer"] = answer
    return document
  }
}

extension ReplayRequest {
  /// Nil if the value is not a ``document``.
  init?(_ document: JSONValue) {
    guard let configuration = document["configuration"]?.string, let low = document["keyLow"]?.integer,
      let high = document["keyHigh"]?.integer
    else { return nil }
    self.init(
      configuration: configuration, file: document["file"]?.string, pluginFolder: document["pluginFolder"]?.string,
      copies: Dictionary(
        (document["copies"]?.members).map { Array($0).compactMap { key, value in value.string.map { (key, $0) } } }
          ?? [],
        uniquingKeysWith: { first, _ in first }),
      key: MessageHash.Key(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high)),
      patience: .nanoseconds(document["patience"]?.integer ?? 5_000_000_000),
      exchanges: document["exchanges"]?.elements.compactMap { element in
        guard let index = element["index"]?.integer, let exchange = element["exchange"] else { return nil }
        return (Int(clamping: index), exchange)
      } ?? [],
      callOuts: document["callOuts"]?.elements.compactMap { element in
        guard let index = element["index"]?.integer, let call = element["call"] else { return nil }
        return (Int(clamping: index), call)
      } ?? [],
      answer: document["answer"])
  }
}
