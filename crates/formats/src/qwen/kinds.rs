//! The kinds of records in Qwen Code's chats: `RECORD_TYPES` and `KNOWN_RECORD_SUBTYPES` of 0.24.4 (github.com/QwenLM/qwen-code,
//! packages/core/src/utils/transcript-records.ts), and `user_text_elements` of chatRecordingService.ts. All of them stand in the
//! tree but those of `BESIDE`.

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds {
    read: "user assistant tool_result system/chat_compression system/slash_command system/rewind",
    left_out: "system/ui_telemetry system/at_command system/attribution_snapshot system/background_task_completed \
            system/custom_title system/parent_session system/agent_bootstrap system/agent_launch_prompt system/agent_retry \
            system/agent_session_ready system/file_history_snapshot system/session_source system/session_model \
            system/omni_recall system/branch_checkpoint system/goal_state system/goal_turn_end system/turn_result \
            system/user_text_elements system/session_sources_snapshot system/session_artifact_event \
            system/session_artifact_snapshot system/managed_session_header_v1 system/managed_session_event_v1 \
            system/managed_session_commit_v1",
};

/// Records that nothing continues.
pub(super) const BESIDE: [&str; 6] = [
    "session_sources_snapshot",
    "session_artifact_event",
    "session_artifact_snapshot",
    "managed_session_header_v1",
    "managed_session_event_v1",
    "managed_session_commit_v1",
];
