//! The kinds of records in Codex's rollouts: `RolloutItem` and `EventMsg` of 0.171 (github.com/openai/codex,
//! codex-rs/protocol/src/protocol.rs), of which codex-rs/rollout/src/policy.rs says what is kept. Events are what the window
//! shows: what the model saw of it is in a `response_item`. The first versions wrote the items without a frame.

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds {
    read: "session_meta rollout_reference response_item compacted inter_agent_communication event_msg/token_count \
            event_msg/thread_rolled_back message reasoning function_call function_call_output event_msg/task_started \
            event_msg/turn_started",
    left_out: "turn_context world_state token_usage_record security_risk_score inter_agent_communication_metadata \
            realtime_item event_msg/error event_msg/warning event_msg/guardian_warning event_msg/auth_recovery_started \
            event_msg/auth_recovery_completed event_msg/realtime_conversation_started \
            event_msg/realtime_conversation_realtime event_msg/realtime_conversation_closed \
            event_msg/realtime_conversation_sdp event_msg/realtime_conversation_list_voices_response \
            event_msg/model_reroute event_msg/model_verification event_msg/turn_moderation_metadata \
            event_msg/safety_buffering event_msg/context_compacted event_msg/thread_settings_applied \
            event_msg/task_complete event_msg/agent_message event_msg/user_message event_msg/agent_reasoning \
            event_msg/agent_reasoning_raw_content event_msg/agent_reasoning_section_break event_msg/session_configured \
            event_msg/environment_connected event_msg/environment_disconnected event_msg/thread_goal_updated \
            event_msg/thread_queue_changed event_msg/mcp_startup_update event_msg/mcp_startup_complete \
            event_msg/mcp_tool_call_begin event_msg/mcp_tool_call_end event_msg/web_search_begin \
            event_msg/web_search_end event_msg/image_generation_begin event_msg/image_generation_end \
            event_msg/exec_command_begin event_msg/exec_command_output_delta event_msg/terminal_interaction \
            event_msg/exec_command_end event_msg/view_image_tool_call event_msg/exec_approval_request \
            event_msg/request_permissions event_msg/request_user_input event_msg/dynamic_tool_call_request \
            event_msg/dynamic_tool_call_response event_msg/elicitation_request event_msg/elicitation_abandoned \
            event_msg/apply_patch_approval_request event_msg/guardian_assessment event_msg/deprecation_notice \
            event_msg/stream_error event_msg/patch_apply_begin event_msg/patch_apply_updated event_msg/patch_apply_end \
            event_msg/turn_diff event_msg/plan_update event_msg/turn_aborted event_msg/shutdown_complete \
            event_msg/entered_review_mode event_msg/exited_review_mode event_msg/raw_response_item \
            event_msg/raw_response_completed event_msg/item_started event_msg/item_completed event_msg/hook_started \
            event_msg/hook_completed event_msg/agent_message_content_delta event_msg/plan_delta \
            event_msg/reasoning_content_delta event_msg/reasoning_raw_content_delta event_msg/collab_agent_spawn_begin \
            event_msg/collab_agent_spawn_end event_msg/collab_agent_interaction_begin \
            event_msg/collab_agent_interaction_end event_msg/collab_waiting_begin event_msg/collab_waiting_end \
            event_msg/collab_close_begin event_msg/collab_close_end event_msg/collab_resume_begin \
            event_msg/collab_resume_end event_msg/sub_agent_activity",
};
