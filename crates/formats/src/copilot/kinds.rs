//! The kinds of events in Copilot CLI's files: `SessionEvent` (github.com/github/copilot-sdk,
//! nodejs/src/generated/session-events.ts; @github/copilot-sdk 1.0.14). `session.truncation` changes what the model sees and is
//! not read: it is told. `session.usage_record` and what 1.0.102 records of the request for a summary (`model.*`) are by its program.

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds {
    read: "session.start session.resume system.message user.message system.notification assistant.message \
            tool.execution_complete session.compaction_complete session.snapshot_rewind session.binary_asset \
            session.mode_notice_delivered session.compaction_start session.context_cleared",
    left_out: "abort assistant.idle assistant.intent assistant.message_delta assistant.message_start assistant.reasoning \
            assistant.reasoning_delta assistant.server_tool_progress assistant.streaming_delta \
            assistant.tool_call_delta assistant.turn_end assistant.turn_start assistant.usage \
            auto_mode_switch.completed auto_mode_switch.requested capabilities.changed command.completed \
            command.execute command.queued commands.changed elicitation.completed elicitation.requested \
            exit_plan_mode.completed exit_plan_mode.requested external_tool.completed external_tool.requested \
            factory.run_settled factory.run_started factory.run_updated hook.end hook.progress hook.start \
            mcp.headers_refresh_completed mcp.headers_refresh_required mcp.oauth_completed mcp.oauth_required \
            mcp.prompts.list_changed mcp.resources.list_changed mcp.tools.list_changed mcp_app.tool_call_complete \
            model.call_failure pending_messages.modified permission.completed permission.requested sampling.completed \
            sampling.requested session.auto_mode_resolved session.autopilot_objective_changed \
            session.background_tasks_changed session.canvas.closed session.canvas.opened session.canvas.recorded \
            session.canvas.registry_changed session.canvas.removed session.canvas.unavailable session.context_changed \
            session.custom_agents_updated session.custom_notification session.error \
            session.extensions.attachments_pushed session.extensions_loaded session.handoff session.idle session.info \
            session.managed_settings_enforced session.managed_settings_resolved session.mcp_server_status_changed \
            session.mcp_servers_loaded session.mode_changed session.model_change session.permissions_changed \
            session.plan_changed session.remote_steerable_changed session.schedule_cancelled session.schedule_created \
            session.schedule_rearmed session.session_limits_changed session.shutdown session.skills_loaded \
            session.task_complete session.title_changed session.todos_changed session.tools_updated \
            session.usage_checkpoint session.usage_info session.warning session.workspace_file_changed \
            session_limits_exhausted.completed session_limits_exhausted.requested skill.invoked subagent.completed \
            subagent.deselected subagent.failed subagent.selected subagent.started tool.execution_partial_result \
            tool.execution_progress tool.execution_start tool.user_requested tool_search.activated ui.ephemeral_query \
            user_input.completed user_input.requested assistant.fusion_phase_activity assistant.fusion_phase_completed \
            assistant.fusion_phase_failed assistant.fusion_phase_started model.call_finished \
            session.auto_tier_recommendation session.auto_tier_switch_failed session.completion_receipt \
            session.fusion_completed session.fusion_resolved session.fusion_route_failed session.fusion_route_started \
            session.import_legacy session.mcp_server_needs_reconnect session.mcp_server_removed subagent.configured session.usage_record \
            model.turn_started model.turn_ended model.model_call_started model.model_call_success model.message \
            model.response model.messages_snapshot",
};
