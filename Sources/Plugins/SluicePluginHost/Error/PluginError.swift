public import SluiceMessages

/// Why a plugin, its library or the store cannot be used: what failed, on what, why, and what to do.
public struct PluginError: Error, Sendable, Hashable {
  /// The kind of failure, for programs.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// Lower-case words joined by `_`, such as `not_found`.
    public let rawValue: String
    /// Makes a code from any text. Codes that this version does not know are allowed.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What the error is about.
  public enum Subject: Hashable, Sendable {
    /// A plugin by its name in the configuration, its library's path, or both.
    case plugin(name: String?, path: String?)
    /// The folder that holds the private copies.
    case store(path: String)
    /// A folder for Sluice's own files.
    case folder(path: String)
  }

  /// The kind of failure. Programs must decide by this code, not by ``reason``.
  public var code: Code
  /// The plugin or folder at fault. The description begins with this subject.
  public var subject: Subject
  /// Part of a sentence, without a full stop.
  public var reason: String
  /// What the reader can do about it, as part of a sentence.
  public var advice: String?

  /// Makes an error. `reason` and `advice` are parts of a sentence, without a full stop; `advice` can be nil.
  public init(_ code: Code, _ subject: Subject, _ reason: String, advice: String? = nil) {
    self.code = code
    self.subject = subject
    self.reason = reason
    self.advice = advice
  }

  /// Whether a library was refused (exit status 3), as opposed to a missing file or a wrong configuration (exit status
  /// 2).
  public var isRefusal: Bool {
    switch code {
    case .notFound, .configuration, .store, .trialUnavailable: false
    default: true
    }
  }

  /// Whether the file changed while it was read, so that the same call can succeed a moment later.
  public var isTransient: Bool { code == .changedWhileRead }

  /// Whether the error can occur because a build is still writing the file, so that the same call might succeed a
  /// moment later.
  package var mayBeBeingWritten: Bool {
    [.changedWhileRead, .notFound, .truncated].contains(code)
  }

  /// The same error with the name that the configuration gives the plugin.
  public func named(_ name: String) -> PluginError {
    guard case .plugin(_, let path) = subject else { return self }
    var error = self
    error.subject = .plugin(name: name, path: path)
    return error
  }
}

extension PluginError.Code {
  /// No file is at the path, or a part of the path is not a folder.
  public static let notFound = Self(rawValue: "not_found")
  /// The file or its folder cannot be read, or the SHA-256 of the file cannot be computed.
  public static let unreadable = Self(rawValue: "unreadable")
  /// The path names a folder, a FIFO, a device or a socket.
  public static let notRegularFile = Self(rawValue: "not_regular_file")
  /// The file is larger than 512 MiB, or the library wants more than 1 GiB of memory.
  public static let tooLarge = Self(rawValue: "too_large")
  /// The file changed while it was read; the same call can succeed when the build that writes it has ended.
  public static let changedWhileRead = Self(rawValue: "changed_while_read")
  /// Users other than this user and root can change the file or its folder.
  public static let refusedPermissions = Self(rawValue: "refused_permissions")

  /// The file is empty, begins with zeros, or is shorter than its headers say; a build might still be writing it.
  public static let truncated = Self(rawValue: "truncated")
  /// The file is not an ELF file, or lacks the segments or the section table that the preflight reads.
  public static let notELF = Self(rawValue: "not_elf")
  /// The file is an ELF file of another kind: an object file, a program or a core dump.
  public static let notSharedLibrary = Self(rawValue: "not_shared_library")
  /// The library was built for another processor, for 32 bits, or for a big-endian machine.
  public static let wrongMachine = Self(rawValue: "wrong_machine")
  /// The library itself does not export the function `sluice_plugin_entry`.
  public static let noEntry = Self(rawValue: "no_entry")
  /// The library has no note `sluice`, or its note or its required features cannot be used.
  public static let noNote = Self(rawValue: "no_note")
  /// The library and the host have no ABI revision in common, or the note has flags that the host does not know.
  public static let abiMismatch = Self(rawValue: "abi_mismatch")
  /// The library requires a host feature that this host does not offer.
  public static let missingFeature = Self(rawValue: "missing_feature")
  /// The library defines functions of jansson, needs another version of jansson, or uses jansson without naming it as a
  /// needed library.
  public static let ownJansson = Self(rawValue: "own_jansson")
  /// The library's Swift code would run partly on its own Swift runtime and partly on the runtime of the process.
  public static let mixedRuntimes = Self(rawValue: "mixed_runtimes")
  /// Parts of the file contradict each other; no linker produces such a file.
  public static let damaged = Self(rawValue: "damaged")
  /// The library wants memory that is writable and executable.
  public static let unsafeMemory = Self(rawValue: "unsafe_memory")

  /// The folder of private copies, or another of Sluice's folders, cannot be used or changed.
  public static let store = Self(rawValue: "store")
  /// The dynamic loader refused the library, no thread or descriptor was free, or loading did not end in time.
  public static let loadFailed = Self(rawValue: "load_failed")
  /// The loader returned the code of a library other than the requested one.
  public static let oldMapping = Self(rawValue: "old_mapping")
  /// The entry point returned NULL. The reason is the message of the entry point, if it wrote one.
  public static let entryFailed = Self(rawValue: "entry_failed")
  /// A table that the plugin returned breaks the rules of its header, or contradicts itself.
  public static let invalidTable = Self(rawValue: "invalid_table")

  /// The configuration of an instance or a place nests too deeply, violates the plugin's schema, or is given although
  /// the plugin takes none.
  public static let configuration = Self(rawValue: "configuration")
  /// `create` or `create_stage` failed; the reason is the plugin's message, if it gave one.
  public static let createFailed = Self(rawValue: "create_failed")
  /// `activate` failed, or no thread could be started for queued delivery.
  public static let activateFailed = Self(rawValue: "activate_failed")
  /// `save` returned no state, or `load` did not accept it.
  public static let stateRefused = Self(rawValue: "state_refused")
  /// A state is larger than the limit for handing it over.
  public static let stateTooLarge = Self(rawValue: "state_too_large")
  /// The build was refused before, because it failed while it served.
  public static let knownBad = Self(rawValue: "known_bad")

  /// There is no helper program for trials, or the program does not work.
  public static let trialUnavailable = Self(rawValue: "trial_unavailable")
  /// The library's code ended the process of the trial.
  public static let trialExited = Self(rawValue: "trial_exited")
  /// A signal ended the trial, such as SIGSEGV or SIGABRT.
  public static let trialCrashed = Self(rawValue: "trial_crashed")
  /// The trial exceeded its deadline or its processor time, or left work that did not end.
  public static let trialTimedOut = Self(rawValue: "trial_timed_out")
  /// The library closed descriptors of the trial's process.
  public static let trialClosedDescriptors = Self(rawValue: "trial_closed_descriptors")
  /// A signal ended the process that watched the trial.
  public static let trialKilledWatcher = Self(rawValue: "trial_killed_watcher")
  /// The library started a process that continued after the trial.
  public static let trialLeftProcess = Self(rawValue: "trial_left_process")
  /// One of the plugin's own test cases failed; the reason names the first one.
  public static let selfTestFailed = Self(rawValue: "self_test_failed")
}

extension PluginError: DescribedError {
  /// The whole error on one line, even if names or texts of plugins contain line breaks.
  public var description: String {
    PlainText.line("\(subject): \(reason)" + (advice.map { "; \($0)" } ?? ""))
  }
}

extension PluginError.Subject: CustomStringConvertible {
  /// The subject as part of a sentence: `plugin "retry" at plugins/libretry.so`. ``PluginError/description`` begins
  /// with this text.
  public var description: String {
    switch self {
    case .plugin(let name?, let path?): "plugin \(PlainText.quote(name)) at \(PlainText.path(path))"
    case .plugin(let name?, nil): "plugin \(PlainText.quote(name))"
    case .plugin(nil, let path): "library \(path ?? "(unnamed)")"
    case .store(let path): "plugin store \(path) (key \"store\")"
    case .folder(let path): "folder \(path)"
    }
  }
}
