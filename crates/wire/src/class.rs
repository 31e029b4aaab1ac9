//! What the parts of requests and answers are.

/// The class of an item, a block or a part. Where it is not known, it is [`PartClass::Opaque`]: never a person's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartClass {
    /// Text or media of a speaker.
    Speech,
    /// The model's reasoning.
    Reasoning,
    /// A call of a tool, whoever runs it.
    Call,
    /// The result of a call.
    Result,
    /// What a request is set up with where it stands: definitions of tools, references, approvals. Nobody's speech; it stays in
    /// its place, byte for byte.
    Configuration,
    /// What a provider put in place of messages that it compacted.
    Compaction,
    /// Anything else.
    Opaque,
}
