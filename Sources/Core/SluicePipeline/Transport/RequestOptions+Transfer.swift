import SluiceMessages

extension RequestOptions {
  /// Copies the options that concern the transport.
  func apply(to options: inout TransferOptions) {
    if idleTimeout != nil { options.tellsProgress = true }
    if let maximumResponseBytes {
      options.maximumResponseBytes = max(0, maximumResponseBytes)
      options.maximumStreamedBytes = max(0, maximumResponseBytes)
    }
    options.decodesContent = decodesContent
    options.decodesOnDemand = decodesOnDemand
    options.expectsContinue = expectsContinue
    options.priority = priority
    options.hasRoute = identity != nil || unixSocket != nil
  }
}
