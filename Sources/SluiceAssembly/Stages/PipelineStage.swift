import SluicePipeline

/// What a pipeline calls for one plugin: an interceptor, a tracer, or both.
struct PipelineStage: Sendable {
  var interceptor: (any Interceptor)?
  var tracer: (any Tracer)?
  /// The interceptor at its places that have a configuration of their own, in the order of the lists.
  var places: [any Interceptor] = []
}
