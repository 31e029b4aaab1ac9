import type { ComponentChildren, VNode } from "preact";

import type { HistoryItem } from "../api/types";
import { t } from "../lang";
import type { Compaction } from "../lib/compaction";
import { count, sentence, words } from "../lib/format";
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

function Bubble({ state, title, children }: { state: keyof typeof t.bubble.states; title: ComponentChildren; children: ComponentChildren }): VNode {
  return (
    <section class="bubble" data-state={state} aria-label={t.bubble.label(t.bubble.states[state])}>
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
        <Bubble state="failed" title={<strong>{t.session.failed}</strong>}>
          <div role="alert">
            <p>{sentence(compaction.message)}</p>
            {compaction.help !== "" && <p>{sentence(compaction.help)}</p>}
          </div>
          <p class="quiet-text">{t.bubble.asItWas}</p>
          <div class="buttons">
            {compaction.retryable && (
              <button type="button" onClick={actions.retry}>
                {t.words.tryAgain}
              </button>
            )}
            <button type="button" class="quiet" onClick={actions.dismiss}>
              {t.words.dismiss}
            </button>
          </div>
        </Bubble>
      );
    case "unchanged":
      return (
        <Bubble state="unchanged" title={<strong>{t.session.nothing}</strong>}>
          <p>
            {compaction.why}{" "}
            <button type="button" class="link" onClick={actions.dismiss}>
              {t.words.dismiss}
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
          <strong>{t.bubble.compacting}</strong>
          {t.bubble.messagesBecause(messages, triggerName(reason))}
        </>
      }
    >
      {steps.length > 0 && (
        <ol class="steps">
          {steps.map((step, position) => (
            <li key={position}>
              <code>{step.strategy}</code> {t.counts.edits(step.edits)}, {count(step.tokensBefore)} →{" "}
              {count(step.tokensAfter)}
            </li>
          ))}
        </ol>
      )}
      {summaries.asked > 0 && (
        <p class="quiet-text">
          {t.bubble.summaries(summaries.written, summaries.asked)}
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
            {t.bubble.summary}
          </button>
        )}
        <a class="button" href={compare}>
          {t.bubble.beforeAndAfter}
        </a>
        {!entry.undone && (
          <button
            type="button"
            class="quiet"
            disabled={actions.busy || entry.covered_by !== null}
            title={entry.covered_by === null ? undefined : t.compactions.covered(entry.covered_by)}
            onClick={() => actions.undo(entry.epoch)}
          >
            {t.words.undo}
          </button>
        )}
      </div>
      {!entry.undone && entry.covered_by !== null && <p class="note">{t.compactions.covered(entry.covered_by)}</p>}
    </Bubble>
  );
}

/** What called for a compaction; empty where that is not known. */
function triggerName(reason: string): string {
  const names: Partial<Record<string, string>> = t.compactions.triggers;
  return names[reason] ?? words(reason);
}

/** What an epoch is called; some are no compactions of the session. */
function epochName({ trigger, epoch }: HistoryItem): string {
  switch (trigger) {
    case "arrival":
      return t.bubble.arrival(epoch);
    case "clearing":
      return t.bubble.clearing(epoch);
    default:
      return t.bubble.compaction(epoch);
  }
}

/** A compaction in one line. */
export function EpochTitle({ entry }: { entry: HistoryItem }): VNode {
  const { tokens_before: before, tokens_after: after } = entry;
  return (
    <>
      <strong>{epochName(entry)}</strong>{" "}
      {before !== null && after !== null && before > 0 ? t.bubble.saved(before, after) : t.bubble.recorded}
      {entry.undone && <span class="badge">{t.bubble.undone}</span>}
    </>
  );
}
