/// The keys of a repository: which keys sign for which role, and how many of them must.
package struct RootDocument: Sendable, Hashable {
  /// The keys of one role.
  package struct RoleKeys: Sendable, Hashable {
    package var keys: Set<KeyID>
    /// The number of different keys whose signatures a document needs, from 1 to the number of keys.
    package var threshold: Int

    package init(keys: Set<KeyID>, threshold: Int) {
      self.keys = keys
      self.threshold = threshold
    }
  }

  package var version: Int64
  package var created: UpdateMoment
  package var expires: UpdateMoment
  /// The public keys, each of 32 bytes.
  package var keys: [KeyID: [UInt8]]
  package var roles: [UpdateRole: RoleKeys]

  package init(
    version: Int64, created: UpdateMoment, expires: UpdateMoment, keys: [KeyID: [UInt8]],
    roles: [UpdateRole: RoleKeys]
  ) {
    self.version = version
    self.created = created
    self.expires = expires
    self.keys = keys
    self.roles = roles
  }

  /// The version of the root after this one; nil if no higher version exists.
  package var nextVersion: Int64? { version < .max ? version + 1 : nil }

  /// The keys of a role. A role without keys gets a threshold that no document can reach.
  package func keys(of role: UpdateRole) -> RoleKeys { roles[role] ?? RoleKeys(keys: [], threshold: .max) }
}
