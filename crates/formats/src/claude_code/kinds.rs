//! The kinds of records in Claude Code's files: the table by which 2.1.332 decides what becomes of each when it loads a file,
//! and the subtypes of `system` that it writes; without one they are of early versions; then what its
//! stream for programs has beside them, and the `marble-origami` of versions up to 2.1.258.

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds {
    read: "user assistant attachment queue-operation content-replacement system/compact_boundary \
            system/microcompact_boundary marble-origami-commit marble-origami-reset system/local_command",
    left_out: "progress summary file-history-snapshot file-history-delta last-prompt continued-in resume-head-vouch \
            data-flow-records data-flow-incomplete derived-from api-request api-request-shape api-request-blob \
            api-request-resumed fork-context-ref frame-link custom-title ended-by-model ai-title tag relocated \
            agent-name agent-color agent-setting pr-link artifact-comment-monitor artifact-autoreact-ledger \
            bridge-session history-suppression attribution-snapshot mode permission-mode isolation-latch session-owner \
            dev-mods memory-mode atis-latch tools-used worktree-state cost-state observer-ref result stream_event \
            rate_limit_event tool_progress tool_use_summary prompt_suggestion auth_status system/ system/agents_killed \
            system/api_error system/api_retry system/away_summary system/background_tasks_changed system/bridge_state \
            system/bridge_status system/checkpoint_done system/cloud_session_delta system/cloud_session_status \
            system/code_change_published system/commands_changed system/control_request_progress system/dev_intent \
            system/elicitation_complete system/feedback_draft_queued system/file_attachments_missing \
            system/file_snapshot system/hook_progress system/hook_response system/hook_started system/informational \
            system/inherited_asks_settled system/init system/instruction_size_warning system/late_allow_not_run \
            system/memory_recall system/memory_saved system/mirror_error system/model_consent_fallback \
            system/model_fallback system/model_refusal_fallback system/model_refusal_no_fallback system/notification \
            system/peer_message_hold system/per_turn_effort_changed system/permission_check_status \
            system/permission_denied system/permission_retry system/placed system/plugin_install \
            system/post_turn_summary system/rewind_stand_in system/scheduled_task_fire system/session_metadata \
            system/session_state_changed system/session_title_changed system/session_writes_lost system/shell_cwd \
            system/start_folder system/status system/stop_hook_summary system/task_notification system/task_progress \
            system/task_started system/task_summary system/task_updated system/thinking_tokens system/tool_host_result \
            system/turn_began_before_init system/turn_duration system/turn_handoff_available system/turn_preempted \
            system/turn_starting system/ui_focus system/ui_invalidate system/ui_log system/ui_notify \
            system/ui_notify_cancel system/ui_panes system/ui_placed system/ui_scroll system/ui_status system/ui_toast \
            system/vcs_state_changed system/voice_call_talk system/worker_shutting_down marble-origami-snapshot",
};
