// What most programs name. The members of a type come with it. The other types of the engine's API have modules of their own,
// by purpose: SluiceConfiguration, SluiceDelegates and SluiceReports; then SluicePlugin, SluiceJSON and the others that
// docs/library.md lists.
@_exported public import struct SluiceAssembly.Configuration
@_exported public import struct SluiceAssembly.ConfigurationError
@_exported public import struct SluiceAssembly.EngineError
@_exported public import enum SluiceAssembly.PayloadForm
@_exported public import struct SluiceAssembly.StageCode
@_exported public import struct SluiceAssembly.TypedTransaction
@_exported public import class SluiceEngine.Cancellation
@_exported public import class SluiceEngine.Engine
@_exported public import struct SluiceEngine.SwapError
@_exported public import struct SluiceEngine.TransactionFailure
@_exported public import struct SluiceEngine.TypedResult
@_exported public import enum SluiceMessages.Body
@_exported public import class SluiceMessages.BodyStream
@_exported public import struct SluiceMessages.ErrorCode
@_exported public import class SluiceMessages.FileBody
@_exported public import struct SluiceMessages.HTTPURL
@_exported public import struct SluiceMessages.HeaderFields
@_exported public import struct SluiceMessages.MessageError
@_exported public import struct SluiceMessages.Request
@_exported public import struct SluiceMessages.RequestOptions
@_exported public import struct SluiceMessages.Response
@_exported public import struct SluiceMessages.RetryRequestError
@_exported public import struct SluiceMessages.StageFailure
@_exported public import struct SluiceMessages.TransactionID
@_exported public import struct SluiceMessages.TypedBody
@_exported public import struct SluicePipeline.TransactionError
@_exported public import struct SluicePipeline.TransactionResult
