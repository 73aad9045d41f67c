/// How plugins are swapped while requests flow; the `swap` object of a configuration.
public struct SwapSettings: Sendable, Hashable {
  /// The comparison of a new snapshot with the previous one.
  public struct Probation: Sendable, Hashable {
    /// How long the previous snapshot is kept ready for a rollback.
    public var duration: Duration
    /// The number of transactions that must have ended on the new snapshot before it is compared.
    public var transactions: Int

    /// Compares the snapshots during this time, as soon as this number of transactions has ended. The defaults are 30
    /// seconds and 100 transactions.
    public init(duration: Duration = .seconds(30), transactions: Int = 100) {
      self.duration = duration
      self.transactions = transactions
    }
  }

  /// Maximum number of builds that an engine maps in its life: a library is never unloaded.
  public var generations = 4096
  /// Maximum number of bytes of memory that the mappings of these builds can take together. Memory that a build
  /// allocates is not included.
  public var generationBytes = 4 << 30
  /// Nil publishes a new build for all new transactions at once.
  package var canary: CanarySettings?
  /// Nil, or a duration of zero, disables probation: the previous snapshot ends at once.
  public var probation: Probation? = Probation()
  /// The time limit for the trial of a library before the process loads it, at the start and in a swap. If zero, the
  /// process loads libraries without a trial. Has no effect in a program that gives the engine no trial.
  public var trial = Duration.seconds(10)
  /// The time limit for transactions on an old snapshot to end.
  public var drain = Duration.seconds(30)
  /// How long a publication waits for event loops. After that, it counts as done on the loops that have taken it.
  public var publish = Duration.seconds(5)

  /// The defaults of a configuration without `swap`.
  package init() {}
}
