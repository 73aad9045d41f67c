package import CLinux

/// The description of the plugin call that the current thread is running.
package struct ThreadCall: Sendable, Hashable {
  /// `stage "auth" (plugin bearer-auth, generation 3)`, or the library if there is no instance yet.
  package let subject: String
  /// The function of the plugin, as the headers of the ABI name it.
  package let callback: String

  /// Nil on a thread that runs no call.
  package static var current: ThreadCall? {
    var call = sluice_call_frame()
    guard let record = sluice_own_call_record(), sluice_read_call(record, &call) != 0, let subject = call.subject else {
      return nil
    }
    return ThreadCall(subject.pointee, call.callback)
  }

  package init(_ subject: sluice_call_subject, _ callback: UInt32) {
    let stage = String(cString: subject.stage)
    let plugin = String(cString: subject.plugin)
    let build = subject.generation > 0 ? ", generation \(subject.generation)" : ""
    self.subject =
      stage.isEmpty
      ? "the library \(String(cString: subject.library))" : "stage \"\(stage)\" (plugin \(plugin)\(build))"
    self.callback =
      UInt8(exactly: callback).flatMap(PluginCallback.init(rawValue:))?.name ?? "a function of the plugin"
  }
}
