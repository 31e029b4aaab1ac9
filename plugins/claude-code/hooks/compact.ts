// Compacts in place of the model. Claude Code runs this where function hooks are switched on (an early access of its own:
// CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=1), and passes it by elsewhere; the hooks of hooks.json work in any case.

import type { Register, SessionMessage } from "claude-code";

/** Milliseconds that a program may take which said that it is at work. */
const PATIENCE = 120_000;

/** What the program answers: the number of one of the agent's messages, or a message. */
type Kept = number | SessionMessage;

/** Whether a value is what the program answers in place of `count` messages. */
function isKept(value: unknown, count: number): value is Kept {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 && value < count;
  const message = value as SessionMessage | null;
  return (message?.role === "user" || message?.role === "assistant") && typeof message.text === "string";
}

export const register: Register = (on) => {
  on("session.compact", async ($, event, next) => {
    // Whatever goes wrong here, the agent compacts as it would without this file.
    try {
      const { messages: came, instructions } = event;
      const { transcriptPath: transcript } = await $.session.info();
      const env = await $.process.hookEnv();
      const stdin = JSON.stringify({ messages: came, instructions, transcript });
      const asked = ["sh", `${env.CLAUDE_PLUGIN_ROOT}/hooks/ask.sh`, "compact"];
      const ran = await $.process.run(asked, { stdin, env, timeoutMs: PATIENCE });
      if (ran.exitCode !== 0 || ran.isStdoutTruncated) {
        $.ui.log(`epitome did not compact: ${ran.stderr.trim() || "its answer was cut"}`);
        return next(event);
      }
      // It was lost earlier in this session.
      if (!ran.stdout) return next(event);
      const { messages, note } = JSON.parse(ran.stdout);
      if (typeof note !== "string" || !note) throw new Error("its answer is not understood");
      if (messages === undefined) {
        $.ui.log(`epitome leaves the compaction to the model: ${note}`);
        return next(event);
      }
      if (!Array.isArray(messages) || !messages.length || !messages.every((kept) => isKept(kept, came.length))) {
        throw new Error("its messages are not understood");
      }
      $.ui.log(note);
      // A number stands for the message of that number: with its handle, the agent keeps its own.
      return { messages: messages.map((kept: Kept) => (typeof kept === "number" ? came[kept] : kept)) };
    } catch (error) {
      $.ui.log(`epitome did not compact: ${error}`);
      return next(event);
    }
  });
};
