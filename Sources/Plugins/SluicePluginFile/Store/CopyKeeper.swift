import Glibc

/// Keeps the folder of a copy in the store: locked as long as this object exists, and removed afterwards.
final class CopyKeeper: Sendable {
  private let folder: String
  /// The owner of the lock: a reference keeps it alive, because the lock ends when the owner is released.
  private let owner: StoreOwner

  init(of folder: String, _ owner: StoreOwner) {
    self.folder = folder
    self.owner = owner
  }

  deinit {
    unlink("\(folder)/\(StagingFolder.fileName)")
    unlink("\(folder)/\(StoreOwner.linkName)")
    rmdir(folder)
    rmdir(LibraryPermissions.folder(of: folder))
  }
}
