import Glibc
import SluiceJSON
import SluiceMessages
import SluiceSupport

extension ByteOutput {
  /// Why the output could not be written.
  struct Failure: Error, Sendable, Equatable {
    let name: String
    let errorNumber: Int32
    /// The text of the error; nil for the text of the system.
    var text: String?
    /// The file was deleted while it was written, or its name now belongs to another file.
    var isRemoved = false
    /// The reader of the output took no bytes for this long, and the rest was given up.
    var stuck: Duration?

    var isBrokenPipe: Bool { errorNumber == EPIPE }
    var description: String {
      let name = PlainText.path(name)
      if isRemoved { return "\(name) was removed or replaced while it was written; the output is lost" }
      if let stuck {
        return "\(name) has accepted no bytes for \(DurationText.text(stuck)), so the rest of the output is lost"
      }
      return "cannot write \(name): \(reason)"
    }

    private var reason: String {
      switch (errorNumber, OutputTarget(at: name)) {
      case (ENXIO, .socket): "it is a socket; name a file"
      case (ENXIO, .stream) where OutputTarget.isPipe(at: name):
        "no process has opened the pipe for reading; start its reader, or name a regular file"
      default: text ?? String(cString: strerror(errorNumber))
      }
    }
  }
}
