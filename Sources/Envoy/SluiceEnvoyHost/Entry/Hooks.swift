public import CEnvoy
import SluiceForeign

// The functions that hooks.c calls.

/// A configuration of the filter was read. Nil refuses it.
@c(sluice_envoy_host_open)
public func openConfiguration(
  _ envoy: UnsafeMutableRawPointer?, _ filter: sluice_envoy_text, _ text: sluice_envoy_text
) -> UnsafeRawPointer? {
  guard let configuration = EnvoyConfiguration.open(envoy, filter: filter.string, text.string) else { return nil }
  // The reference is released in `closeConfiguration`.
  return UnsafeRawPointer(Unmanaged.passRetained(configuration).toOpaque())
}

/// The configuration is no longer used.
@c(sluice_envoy_host_close)
public func closeConfiguration(_ configuration: UnsafeRawPointer?) {
  guard let configuration else { return }
  Unmanaged<EnvoyConfiguration>.fromOpaque(configuration).takeRetainedValue().close()
}

/// A stream begins.
@c(sluice_envoy_host_begin)
public func beginStream(_ configuration: UnsafeRawPointer?, _ stream: UnsafeMutableRawPointer?) -> UnsafeRawPointer? {
  guard let configuration, let stream else { return nil }
  let filter = Unmanaged<EnvoyConfiguration>.fromOpaque(configuration)._withUnsafeGuaranteedRef {
    $0.makeFilter(EnvoyStream(stream))
  }
  // The reference is released in `endStream`.
  return UnsafeRawPointer(Unmanaged.passRetained(filter).toOpaque())
}

/// A stream has ended, and its filter is about to be destroyed.
@c(sluice_envoy_host_complete)
public func completeStream(_ stream: UnsafeRawPointer?) { filter(stream)?.complete() }

/// Envoy has destroyed the filter of a stream.
@c(sluice_envoy_host_end)
public func endStream(_ stream: UnsafeRawPointer?) {
  guard let stream else { return }
  Unmanaged<EnvoyFilter>.fromOpaque(stream).takeRetainedValue().end()
}

/// A head has arrived.
@c(sluice_envoy_host_headers)
public func takeHeaders(
  _ stream: UnsafeRawPointer?, _ isRequest: Bool, _ isLast: Bool
) -> sluice_envoy_headers_status {
  filter(stream)?.headers(isRequest: isRequest, isLast: isLast) ?? SLUICE_ENVOY_HEADERS_CONTINUE
}

/// A piece of a body has arrived.
@c(sluice_envoy_host_body)
public func takeBody(_ stream: UnsafeRawPointer?, _ isRequest: Bool, _ isLast: Bool) -> sluice_envoy_body_status {
  filter(stream)?.body(isRequest: isRequest, isLast: isLast) ?? SLUICE_ENVOY_BODY_CONTINUE
}

/// Trailers have arrived.
@c(sluice_envoy_host_trailers)
public func takeTrailers(_ stream: UnsafeRawPointer?, _ isRequest: Bool) -> sluice_envoy_headers_status {
  filter(stream)?.trailers(isRequest: isRequest) ?? SLUICE_ENVOY_HEADERS_CONTINUE
}

/// A commit of a scheduler has arrived.
@c(sluice_envoy_host_scheduled)
public func takeScheduled(_ stream: UnsafeRawPointer?) { filter(stream)?.scheduled() }

/// The filter, retained, because Envoy can destroy it while it is called.
private func filter(_ stream: UnsafeRawPointer?) -> EnvoyFilter? {
  stream.map { Unmanaged<EnvoyFilter>.fromOpaque($0).takeUnretainedValue() }
}
