package import SluiceLoop
package import SluicePipeline

/// Makes the transport of a loop. Called on any thread, before the loop's first transaction.
package typealias TransportMaker = @Sendable (Loop, TransportSettings) throws(TransportError) -> any Transport
