package import CSluice

/// Calls the exported function of a library, and checks everything that it returns.
package enum PluginEntry {
  /// Creates the generation of the library. `host` is used only during the call. [control]
  /// - Parameter number: the generation's number in the engine.
  package static func call(
    _ library: LoadedLibrary, host: UnsafePointer<sluice_host>, abi: UInt32 = HostOffer.abi.upperBound,
    number: Int? = nil
  ) throws(PluginError) -> PluginGeneration {
    let subject = PluginError.Subject.plugin(name: nil, path: library.path)
    let caller = CallSubject(library.copy, generation: number ?? library.stored.generation)
    let (table, message) = PluginErrorBuffer.collect { error in caller.call(.entry) { library.entry(host, abi, error) }
    }
    guard let table else {
      throw PluginError(
        .entryFailed, subject, message ?? "\(LibraryFacts.entrySymbol) returned NULL without a message",
        advice: message == nil ? "its author should write a message into `error`" : nil)
    }
    let checked = TableReader(subject: subject, name: "sluice_plugin")
    let known = try checked.read(table, zero: sluice_plugin(), least: SLUICE_PLUGIN_SIZE_1)
    guard known.abi >= 1, known.abi <= abi else {
      throw checked.error("is for ABI \(known.abi), but the host asked for at most \(abi)")
    }
    return try PluginGeneration(library, known, checked, number: number)
  }
}
