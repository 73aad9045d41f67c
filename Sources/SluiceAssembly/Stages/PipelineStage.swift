package import SluicePipeline

/// What a pipeline calls for one plugin: an interceptor, a tracer, or both.
package struct PipelineStage: Sendable {
  package var interceptor: (any Interceptor)?
  package var tracer: (any Tracer)?
  /// The interceptor at its places that have a configuration of their own, in the order of the lists.
  package var places: [any Interceptor] = []
}
