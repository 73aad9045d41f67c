// The modules of the engine's API. A program that writes stages as Swift types must import SluicePlugin too.
@_exported public import SluiceAssembly
@_exported public import SluiceIDNA
@_exported public import SluiceJSON
@_exported public import SluiceJSONSchema
@_exported public import SluiceLoop
@_exported public import SluiceMessages
@_exported public import SluiceMetrics
@_exported public import SluicePipeline
