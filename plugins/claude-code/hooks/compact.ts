// Compacts in place of the model. Claude Code runs this where function hooks are switched on (an early access of its own:
// CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=1), and passes it by elsewhere; the hooks of hooks.json work in any case.

import type { Register, SessionMessage } from "claude-code";

const PROGRAM = "epitome";

export const register: Register = (on) => {
  on("session.compact", async ($, event, next) => {
    // Whatever goes wrong here, the agent compacts as it would without this file.
    try {
      const stdin = JSON.stringify({ messages: event.messages });
      const ran = await $.process.run([PROGRAM, "hook", "claude-code", "compact"], { stdin });
      if (ran.exitCode !== 0 || ran.isStdoutTruncated) {
        $.ui.log(`epitome did not compact: ${ran.stderr.trim() || "its answer was cut"}`);
        return next(event);
      }
      const { messages, note } = JSON.parse(ran.stdout);
      if (!messages) {
        $.ui.log(`epitome leaves the compaction to the model: ${note}`);
        return next(event);
      }
      $.ui.log(note);
      // A number stands for the message of that number: with its handle, the agent keeps its own.
      const kept = (message: SessionMessage | number) => (typeof message === "number" ? event.messages[message] : message);
      return { messages: messages.map(kept) };
    } catch (error) {
      $.ui.log(`epitome did not compact: ${error}`);
      return next(event);
    }
  });
};
