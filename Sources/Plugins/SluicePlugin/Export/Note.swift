/// The ELF note of every library that contains this module. A host reads it before it runs any code (`note.h`).
///
/// In order: the sizes of owner and content, the type, the owner "sluice", the lowest and the highest ABI, flags, and
/// 32 bytes for the version. The version is empty, because only ``PluginInformation`` has it; the host takes it from
/// the plugin's table. The compiler accepts only literals here.
@section(".note.sluice") @used
let note:
  (
    UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32,
    UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32
  ) = (7, 44, 1, 0x6975_6c73, 0x6563, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
