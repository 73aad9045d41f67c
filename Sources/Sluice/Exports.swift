// The modules of the engine's API. What only some programs name is in modules of their own, which they import:
// SluicePlugin for stages as types, SluiceJSON, SluiceMetrics, SluiceLoop, SluiceIDNA and SluiceReplay.
@_exported public import SluiceAssembly
@_exported public import SluiceEngine
@_exported public import SluiceMessages
@_exported public import SluicePipeline
