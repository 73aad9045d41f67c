/// The command line.
enum Arguments {
  static let usage = """
    usage: sluice-bench [--subject NAME]... [--against NAME] [--connections N] [--requests N] [--rounds N] [--headers N]
                        [--in-flight N] [--tls | --http2 [--streams N]] [--plugins FOLDER] [--peers FOLDER]
    """

  static func plan(_ arguments: [String]) throws -> Plan {
    var plan = Plan()
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--tls": plan.isSecure = true
      case "--http2": (plan.isSecure, plan.usesHTTP2) = (true, true)
      case "--subject": plan.subjects.append(try word(after: option, &rest))
      case "--against": plan.against = try word(after: option, &rest)
      case "--plugins": plan.plugins = try word(after: option, &rest)
      case "--peers": plan.peers = try word(after: option, &rest)
      case "--connections": plan.connections = try number(after: option, &rest)
      case "--requests": plan.requests = try number(after: option, &rest)
      case "--rounds": plan.rounds = try number(after: option, &rest)
      case "--headers": plan.headerCount = try number(after: option, &rest)
      case "--streams": plan.streams = try number(after: option, &rest)
      case "--in-flight": plan.inFlight = try number(after: option, &rest)
      default: throw BenchmarkError("unknown option \(option)\n\(usage)")
      }
    }
    return plan
  }

  private static func word(after option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let text = rest.popFirst() else { throw BenchmarkError("\(option) needs a value\n\(usage)") }
    return text
  }

  private static func number(after option: String, _ rest: inout ArraySlice<String>) throws -> Int {
    guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
      throw BenchmarkError("\(option) needs a number above 0\n\(usage)")
    }
    return number
  }
}
