import SluicePlugin

/// The `config` of the plugin.
struct CacheConfiguration: Decodable, Sendable {
  struct Disk: Decodable, Sendable {
    var path: String
    var bytes: Int?
  }

  /// The maximum number of bytes of responses in memory; with 0, no response is kept in memory.
  var memoryBytes: Int
  /// The maximum number of bytes of a body; a response with a larger body is not stored.
  var entryBytes: Int
  /// A folder in which responses outlive the process.
  var disk: Disk?
  /// Request fields on which every response is considered to depend, as if its `Vary` named them, unless the response
  /// is for everyone: `public`, or in a shared cache `s-maxage`. By default `authorization`. A shared cache adds them
  /// to `authorization` and `cookie`.
  var partitionBy: [String]?
  /// How long after its lifetime a response can replace a failure, if neither the response nor the request has
  /// `stale-if-error`.
  var staleIfError: String
  /// The longest time for which a response without a lifetime is considered fresh.
  var heuristicLimit: String
  /// Whether responses get a `Cache-Status`.
  var cacheStatus: Bool

  static let defaultDiskBytes = 256 << 20

  static let defaults: JSONValue = [
    "memoryBytes": 67_108_864, "entryBytes": 1_048_576, "staleIfError": "0s",
    "heuristicLimit": "24h", "cacheStatus": true,
  ]

  static let schema = """
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "memoryBytes": {"type": "integer", "minimum": 0, "maximum": 1099511627776},
        "entryBytes": {"type": "integer", "minimum": 1, "maximum": 1073741824},
        "disk": {
          "type": ["object", "null"],
          "additionalProperties": false,
          "required": ["path"],
          "properties": {
            "path": {"type": "string", "minLength": 1},
            "bytes": {"type": "integer", "minimum": 65536, "maximum": 1125899906842624}
          }
        },
        "partitionBy": {"type": ["array", "null"], "items": {"type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"}},
        "staleIfError": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?(ms|s|m|h)$"},
        "heuristicLimit": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?(ms|s|m|h)$"},
        "cacheStatus": {"type": "boolean"}
      }
    }
    """

  /// Reads a duration of the configuration as milliseconds.
  func milliseconds(_ key: String, _ text: String) throws(StageFailure) -> Int64 {
    guard let duration = DurationText.duration(text) else {
      throw StageFailure(
        message: "config key \"\(key)\": expected a duration such as \"30s\" or \"24h\", found \"\(text)\"")
    }
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
