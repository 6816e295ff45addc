/// A deliberate fault of the ledger or of a guard. With each, some promise must be seen to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The store does not notice that another process, or a promoted one, has its data.
    NoProcess,
    /// The store does not notice that it evicted keys.
    NoEvictions,
    /// The store takes a missing beginning for a very old one.
    NoBeginning,
    /// A missing fence is written anew, and nothing else: a fault that this model found.
    FenceAlone,
    /// The store does not notice that its clock went back.
    NoClock,
    /// The store forgets how far its clock was ahead: a fault that this model found.
    LastGoesBack,
    /// Where the latest state is known, it does not matter what else was forgotten: a fault that this model found.
    HeadIsKnown,
    /// What was renewed since the ledger began counts as known: a fault that this model found.
    KnownByIssue,
    /// The clock tolerance counts as nothing.
    NoTolerance,
    /// All requests have one attempt.
    OneAttempt,
    /// A retry is another attempt.
    RetryIsAnother,
    /// An end is kept no longer than the token.
    NoMargin,
    /// An end is kept as long as the settings of its time let the token open.
    EndBySettings,
    /// What is over by the store's clock is evaluated all the same.
    NoExpiry,
    /// A commit takes the place of any state.
    CommitBlindly,
    /// A renewal commits nothing.
    NoCommit,
    /// A state is accepted whatever the latest one is.
    NoHead,
    /// A revocation goes by the time of issue, not of the beginning.
    RevokedByIssue,
    /// A revocation goes by the store's clock alone: found after a history's violation.
    RevokedByStore,
    /// Tokens are recorded one by one, though a later one is refused.
    OneByOne,
    /// No answer counts as `ok`.
    FailsOpen,
}
