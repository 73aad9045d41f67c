// The types of which a recording consists.
@_exported public import struct SluicePipeline.RecordedExchange
