package import SluicePipeline

/// What a pipeline calls for one plugin: an interceptor, a tracer, or both.
package struct PipelineStage: Sendable {
  package var interceptor: (any Interceptor)?
  package var tracer: (any Tracer)?
  /// The interceptors for the places of the plugin that have their own configuration, in the order of the lists.
  package var places: [any Interceptor] = []
}
