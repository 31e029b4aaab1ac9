import type { ComponentChildren, VNode } from "preact";

import type { HistoryItem } from "../api/types";
import type { Compaction } from "../lib/compaction";
import { count, plural, savedShare, sentence, share, words } from "../lib/format";
import { hashOf } from "../lib/route";

/** What the buttons of the bubbles do. */
export interface BubbleActions {
  undo: (epoch: number) => void;
  retry: () => void;
  dismiss: () => void;
  /** Opens the summary that a compaction wrote. */
  summary: (entry: HistoryItem) => void;
  busy: boolean;
}

function Bubble({ state, title, children }: { state: string; title: ComponentChildren; children: ComponentChildren }): VNode {
  return (
    <section class="bubble" data-state={state} aria-label={`Compaction, ${state}`}>
      <p class="bubble-title">
        <span class="glyph" aria-hidden="true" />
        {title}
      </p>
      {children}
    </section>
  );
}

/** A compaction that is under way, or that failed. What is done stands in the session's history. */
export function LiveBubble({ compaction, actions }: { compaction: Compaction; actions: BubbleActions }): VNode | null {
  switch (compaction.state) {
    case "running":
      return <Running compaction={compaction} />;
    case "failed":
      return (
        <Bubble state="failed" title={<strong>Compaction failed</strong>}>
          <div role="alert">
            <p>{sentence(compaction.message)}</p>
            {compaction.help !== "" && <p>{sentence(compaction.help)}</p>}
          </div>
          <p class="quiet-text">The session is as it was.</p>
          <div class="buttons">
            {compaction.retryable && (
              <button type="button" onClick={actions.retry}>
                Try again
              </button>
            )}
            <button type="button" class="quiet" onClick={actions.dismiss}>
              Dismiss
            </button>
          </div>
        </Bubble>
      );
    case "unchanged":
      return (
        <Bubble state="unchanged" title={<strong>Nothing was compacted</strong>}>
          <p>
            {compaction.why}{" "}
            <button type="button" class="link" onClick={actions.dismiss}>
              Dismiss
            </button>
          </p>
        </Bubble>
      );
    case "done":
      return null;
  }
}

function Running({ compaction }: { compaction: Compaction & { state: "running" } }): VNode {
  const { steps, summaries, messages, reason } = compaction;
  return (
    <Bubble
      state="running"
      title={
        <>
          <strong>Compacting</strong>
          {messages > 0 && ` ${plural(messages, "message")}`}
          {reason !== "" && ` (${words(reason)})`}…
        </>
      }
    >
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step, position) => (
            <li key={position}>
              <code>{step.strategy}</code> {plural(step.edits, "edit")}, {count(step.tokensBefore)} →{" "}
              {count(step.tokensAfter)}
            </li>
          ))}
        </ol>
      )}
      {summaries.asked > 0 && (
        <p class="quiet-text">
          Summaries: {count(summaries.written)} of {count(summaries.asked)} written
        </p>
      )}
    </Bubble>
  );
}

interface EpochProperties {
  session: string;
  entry: HistoryItem;
  actions: BubbleActions;
}

/** A compaction of the past, in force or undone. */
export function EpochBubble({ session, entry, actions }: EpochProperties): VNode {
  const compare = hashOf({ page: "epoch", id: session, epoch: entry.epoch });
  return (
    <Bubble state={entry.undone ? "undone" : "done"} title={<EpochTitle entry={entry} />}>
      <div class="buttons">
        {entry.summaries.length > 0 && (
          <button type="button" onClick={() => actions.summary(entry)}>
            Summary
          </button>
        )}
        <a class="button" href={compare}>
          Before and after
        </a>
        {!entry.undone && (
          <button type="button" class="quiet" disabled={actions.busy} onClick={() => actions.undo(entry.epoch)}>
            Undo
          </button>
        )}
      </div>
    </Bubble>
  );
}

/** What an epoch is called that is no compaction of the session, by its trigger. */
const NOT_COMPACTIONS: Record<string, string> = { arrival: "Cut on arrival", clearing: "Old results cleared" };

/** A compaction in one line. */
export function EpochTitle({ entry }: { entry: HistoryItem }): VNode {
  const { tokens_before: before, tokens_after: after } = entry;
  const saved = savedShare(before, after);
  return (
    <>
      <strong>
        {NOT_COMPACTIONS[entry.trigger] ?? "Compaction"} {entry.epoch}
      </strong>{" "}
      {before !== null && after !== null && saved !== null ? (
        <>
          saved {count(before - after)} tokens ({share(saved)}): {count(before)} → {count(after)}
        </>
      ) : (
        "made by the agent that recorded the session"
      )}
      {entry.undone && <span class="badge">undone</span>}
    </>
  );
}
