// A program names types of these modules when it configures an engine, writes a delegate or reads a report.
@_exported public import SluiceAssembly
@_exported public import SluiceMessages
@_exported public import SluicePipeline
@_exported public import struct SluicePlugin.RequestContext
@_exported public import struct SluicePlugin.ResponseContext
