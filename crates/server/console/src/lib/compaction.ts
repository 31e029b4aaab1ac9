import type { SessionEvent } from "../api/types";
import { whyUnchanged } from "./report";

export interface StepSeen {
  strategy: string;
  tokensBefore: number;
  tokensAfter: number;
  edits: number;
}

/** A compaction that is under way or just over, as the bubble shows it. */
export type Compaction =
  | {
      state: "running";
      reason: string;
      messages: number;
      steps: StepSeen[];
      summaries: { asked: number; written: number };
    }
  | {
      state: "done";
      epoch: number | null;
      tokensBefore: number;
      tokensAfter: number;
      compacted: number;
      summary: string | null;
    }
  | { state: "unchanged"; why: string }
  | { state: "failed"; message: string; help: string; retryable: boolean };

/** The bubble after an event; events that are not about compactions change nothing. */
export function after(current: Compaction | null, event: SessionEvent): Compaction | null {
  switch (event.event) {
    case "compaction_start":
      return started(event.reason, event.messageCount);
    case "compaction_step": {
      const { strategy, tokensBefore, tokensAfter, edits } = event;
      const running = asRunning(current);
      return { ...running, steps: [...running.steps, { strategy, tokensBefore, tokensAfter, edits }] };
    }
    case "summary_start": {
      const running = asRunning(current);
      const { asked, written } = running.summaries;
      return { ...running, summaries: { asked: asked + event.count, written } };
    }
    case "summary_done": {
      const running = asRunning(current);
      const { asked, written } = running.summaries;
      return { ...running, summaries: { asked, written: written + 1 } };
    }
    case "compaction_done":
      if (!event.success) return { state: "unchanged", why: whyUnchanged(event.status, event.stopped) };
      return {
        state: "done",
        epoch: event.epoch,
        tokensBefore: event.tokensBefore,
        tokensAfter: event.tokensAfter,
        compacted: event.compactedCount,
        summary: event.summaryMessageId,
      };
    case "compaction_error":
      if (current?.state === "failed" && current.message === event.message) return current;
      return { state: "failed", message: event.message, help: "", retryable: event.retryable };
    case "arrival_cut":
    case "results_cleared":
    case "undone":
    case "token_update":
      return current;
  }
}

/** A compaction of which nothing but its beginning is known. */
export function started(reason: string, messages: number): Compaction & { state: "running" } {
  return { state: "running", reason, messages, steps: [], summaries: { asked: 0, written: 0 } };
}

/** A page that opens in the middle of a compaction has not seen its start. */
function asRunning(current: Compaction | null): Compaction & { state: "running" } {
  return current?.state === "running" ? current : started("", 0);
}
