import Glibc
import SluiceMessages
import SluicePluginFile
package import SluicePluginHost
import SluiceSupport

/// What decides a trial, as a hash: the command that runs it, this program, and what the caller adds. If one of them
/// changes, the hash is another.
package struct TrialFingerprint {
  private var bytes: [UInt8] = []

  /// - Parameter task: the name of the kind of trial.
  package init(_ helper: TrialHelper, task: String) {
    add(task)
    for path in [helper.path, RunningProgram.executable ?? ""] { add(Self.identity(path)) }
  }

  package mutating func add(_ text: String) { add(Array(text.utf8)) }

  /// Adds bytes with their number, so that what is added one after the other cannot be confused with something else.
  package mutating func add(_ more: [UInt8]) {
    bytes += Array("\(more.count):".utf8)
    bytes += more
  }

  /// Adds a candidate with the libraries that it needs.
  ///
  /// - Returns: false if its trial cannot be remembered: it gets a state, or it needs a library that this process has not
  ///   mapped, and of which a later start could find another file.
  package mutating func add(_ candidate: TrialCandidate) -> Bool {
    guard let hash = candidate.hash, candidate.instances.allSatisfy({ $0.state == nil }) else { return false }
    add(hash.hex)
    for name in candidate.facts.needed {
      guard let build = LoadedLibrary.buildID(ofMapped: name) else { return false }
      add(name)
      add(build)
    }
    add(candidate.instances)
    return true
  }

  mutating func add(_ instances: [TrialCandidate.Instance]) {
    add("\(instances.count)")
    for instance in instances {
      add(instance.name)
      add(instance.configuration)
      add("\(instance.places.count)")
      for place in instance.places {
        add(place.key)
        add(place.configuration)
      }
    }
  }

  /// Nil if libcrypto refuses.
  package var hash: ContentHash? { ContentHash(of: bytes) }

  /// Differs after every change of the file.
  private static func identity(_ path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { return "none" }
    let times = [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
    return ([Int(status.st_dev), Int(status.st_ino), Int(status.st_size)] + times).map(String.init)
      .joined(separator: " ")
  }
}
