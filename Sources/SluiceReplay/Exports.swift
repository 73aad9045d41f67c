// What a recording consists of.
@_exported public import struct SluicePipeline.RecordedExchange
