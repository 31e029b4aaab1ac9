//! The kinds of messages in Gemini CLI's chats: `ConversationRecordExtra` (github.com/google-gemini/gemini-cli,
//! packages/core/src/services/chatRecordingTypes.ts). Records without a type hold them, or say what was taken back.

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds { read: "user gemini", left_out: "info error warning" };
