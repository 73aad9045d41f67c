/// The command line: `--connections N --requests N --rounds N --headers N --tls`,
/// `--subject NAME`, once for each subject to run, or only `headers`, `swap` or `dev`, and `--plugins FOLDER` with the
/// built plugins.
enum Arguments {
  static func plan(_ arguments: [String]) throws -> Plan {
    var plan = Plan()
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--tls": plan.isSecure = true
      case "--subject": plan.subjects.append(try word(after: option, &rest))
      case "--plugins": plan.plugins = try word(after: option, &rest)
      case "--connections": plan.connections = try number(after: option, &rest)
      case "--requests": plan.requests = try number(after: option, &rest)
      case "--rounds": plan.rounds = try number(after: option, &rest)
      case "--headers": plan.headerCount = try number(after: option, &rest)
      default:
        throw BenchmarkError(
          "unknown option \(option); expected --connections, --requests, --rounds, --headers with a number,"
            + " --subject with a name, --plugins with a folder, or --tls")
      }
    }
    return plan
  }

  private static func word(after option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let text = rest.popFirst() else { throw BenchmarkError("\(option) needs a name") }
    return text
  }

  private static func number(after option: String, _ rest: inout ArraySlice<String>) throws -> Int {
    guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
      throw BenchmarkError("\(option) needs a number above 0")
    }
    return number
  }
}
