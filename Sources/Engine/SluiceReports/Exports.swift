// The reports of an engine about itself, its swaps, and the transfers of a transaction.
@_exported public import struct SluiceAssembly.LogLine
@_exported public import struct SluiceAssembly.MetricsReport
@_exported public import struct SluiceAssembly.PluginMetricsReport
@_exported public import struct SluiceAssembly.SwapReport
@_exported public import struct SluiceEngine.EngineStatus
@_exported public import struct SluiceEngine.NotificationResult
@_exported public import struct SluiceMessages.ConnectionFacts
@_exported public import enum SluiceMessages.HTTPVersion
@_exported public import enum SluiceMessages.TransactionOutcome
@_exported public import struct SluiceMessages.TransferTimings
@_exported public import struct SluicePipeline.HopMetrics
@_exported public import struct SluicePipeline.TransportError
