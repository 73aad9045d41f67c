import CCrypto
import SluiceForeign
import SluiceJSON
import SluiceMessages

/// Reads a plan, and checks its libraries again.
enum EnvoyPlan {
  /// No library is larger.
  private static let libraryLimitBytes = 256 << 20

  static func read(_ entry: PlanFolder.Entry) throws -> Plan {
    let plan: Plan
    do { plan = try Plan(entry.text) } catch let error as JSONError {
      throw PlanFolder.Fault("\(PlainText.path("\(entry.folder)/\(PlanFolder.planName)")): \(error)")
    }
    for (path, library) in plan.libraries {
      guard library.copy.hasPrefix("\(entry.folder)/"),
        !library.copy.dropFirst(entry.folder.utf8.count + 1).contains("/")
      else {
        throw PlanFolder.Fault("the copy of \(PlainText.path(path)) is not in the folder of the plan")
      }
      let bytes = try PlanFolder.contents(of: library.copy, limitBytes: libraryLimitBytes)
      guard digest(of: bytes) == library.hash else {
        throw PlanFolder.Fault(
          "\(PlainText.path(library.copy)): its SHA-256 is not the one that the plan names")
      }
    }
    return plan
  }

  private static func digest(of bytes: [UInt8]) -> String? {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    let status = EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    return status == 1 && length == 32 ? digest.prefix(32).hexadecimal : nil
  }
}
