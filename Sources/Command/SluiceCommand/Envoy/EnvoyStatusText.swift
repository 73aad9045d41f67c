import SluiceForeign
import SluiceJSON
import SluiceMessages

/// The status of the Envoys of a plan folder, for people.
enum EnvoyStatusText {
  static func of(_ folder: PlanFolder, _ current: Int?, _ processes: [EnvoyProcess]) -> String {
    let plan = current.map { "plan \($0) is the current one" } ?? "there is no plan"
    var lines = ["\(PlainText.path(folder.path)): \(plan)"]
    if processes.isEmpty { lines.append("no Envoy uses this folder") }
    for process in processes {
      let transactions = process.document["counts"]?["transactions"]
      let refused = number(process.document["refused"])
      lines.append(
        "Envoy \(process.pid): plan \(process.plan), after \(number(process.document["swaps"])) swaps;"
          + " \(number(transactions?["begun"])) transactions on it, \(number(transactions?["failed"])) failed,"
          + " \(number(transactions?["inFlight"])) in flight")
      for plugin in process.document["plugins"].map({ Array($0.elements) }) ?? [] {
        let hash = plugin["hash"]?.string?.prefix(12) ?? ""
        lines.append("  \(plugin["name"]?.string ?? ""): \(plugin["library"]?.string ?? "") \(hash)")
      }
      if refused != "0" { lines.append("  \(refused) plans refused, the last one because \(process.refusal ?? "")") }
    }
    return lines.map { "\($0)\n" }.joined()
  }

  private static func number(_ value: JSONValue?) -> String { value?.integer.map { String($0) } ?? "0" }
}
