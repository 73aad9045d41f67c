import Glibc
import SluiceMessages
import SluiceSupport

/// A folder through which the command passes plans to processes that it does not start. Only its owner can use it.
///
///     current -> plans/7                   the plan that serves
///     plans/7/plan.json                    the plan
///     plans/7/HASH.so                      a copy of each library
///     status/PID.json                      what a process says about itself
///     ask                                  is touched to make the processes write their status
package struct PlanFolder: Sendable {
  package static let currentName = "current"
  package static let plansName = "plans"
  package static let planName = "plan.json"
  package static let statusName = "status"
  package static let askName = "ask"
  /// No plan is larger.
  private static let limitBytes = 16 << 20

  package let path: String

  package init(_ path: String) { self.path = path }

  package var statusFolder: String { "\(path)/\(Self.statusName)" }

  /// A plan as it is in the folder.
  package struct Entry: Sendable {
    /// The plan's number, which grows.
    package let number: Int
    /// The folder of the plan.
    package let folder: String
    package let text: [UInt8]
  }

  /// Why a plan is not used.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  /// The number of the plan that `current` leads to. Nil if there is none.
  ///
  /// - Throws: if the link leads elsewhere.
  package func currentNumber() throws(Fault) -> Int? {
    let link = "\(path)/\(Self.currentName)"
    guard let target = SymbolicLink.target(link) else {
      var status = stat()
      guard lstat(link, &status) != 0 else { throw Fault("\(PlainText.path(link)) is not a link") }
      return nil
    }
    let prefix = "\(Self.plansName)/"
    guard target.hasPrefix(prefix), let number = Int(target.dropFirst(prefix.count)), number > 0,
      target == "\(prefix)\(number)"
    else {
      throw Fault(
        "\(PlainText.path(link)) leads to \(PlainText.quote(target)); it must lead to \(prefix)NUMBER")
    }
    return number
  }

  /// Reads a plan. Its folder, and this folder, must belong to the user of the process or to root, and nobody else may
  /// write there.
  package func read(_ number: Int) throws(Fault) -> Entry {
    let folder = "\(path)/\(Self.plansName)/\(number)"
    for folder in [path, "\(path)/\(Self.plansName)", folder] { try Self.check(folder, isFolder: true) }
    return Entry(
      number: number, folder: folder,
      text: try Self.contents(of: "\(folder)/\(Self.planName)", limitBytes: Self.limitBytes))
  }

  /// Reads a file of a plan.
  package static func contents(of path: String, limitBytes: Int) throws(Fault) -> [UInt8] {
    try check(path, isFolder: false)
    guard let file = FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), let status = file.status()
    else {
      throw fault(path, SystemError.text())
    }
    guard status.isRegularFile else { throw fault(path, "it is not a regular file") }
    guard status.st_size <= limitBytes else { throw fault(path, "it has more than \(limitBytes) bytes") }
    guard let bytes = file.readAll(capacity: Int(status.st_size)) else { throw fault(path, SystemError.text()) }
    return bytes
  }

  private static func check(_ path: String, isFolder: Bool) throws(Fault) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw fault(path, SystemError.text()) }
    guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
      throw fault(path, isFolder ? "it is not a folder" : "it is not a regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw fault(path, "it belongs to the user \(status.st_uid), and this process runs as \(geteuid())")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw fault(path, "other users can write to it") }
  }

  private static func fault(_ path: String, _ reason: String) -> Fault {
    Fault("\(PlainText.path(path)): \(reason)")
  }
}
