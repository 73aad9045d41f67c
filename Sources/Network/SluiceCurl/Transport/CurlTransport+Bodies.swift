package import SluiceMessages
package import SluicePipeline
import SluiceTransport

extension CurlTransport {
  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeBodyGatherer(on: loop, options)
  }

  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeRequestGatherer(on: loop, options)
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream { try file.stream() }
}
