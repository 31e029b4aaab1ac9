import type { VNode } from "preact";
import { useCallback } from "preact/hooks";

import type { ContextPart, ContextReport, Departure, RemovedItem } from "../api/types";
import {
  barTokens,
  departureMessages,
  editName,
  isNearTheWindow,
  nearness,
  nextSentence,
  partName,
  removedSentence,
  savingDepartures,
  usageSentence,
  warningSentence,
  windowSentence,
} from "../lib/context";
import { count, plural, share, words } from "../lib/format";
import { hashOf } from "../lib/route";
import { Heading } from "../ui/heading";
import { useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { useRecallDialog } from "../ui/recall";
import { TokenBar } from "../ui/token-bar";

/** Tools or files of a part that are shown. */
const ITEMS = 30;

/** What has left that is shown: the newest. */
const REMOVED = 50;

/** What fills a session's context, what would leave it next, and what has left it. */
export function ContextScreen({ id }: { id: string }): VNode {
  const client = useClient();
  const report = useLoad(useCallback(() => client.context(id), [client, id]));
  const recall = useRecallDialog(id);
  return (
    <>
      <p class="crumb">
        <a href={hashOf({ page: "session", id })}>← Session</a>
      </p>
      <div class="title-row">
        <Heading title="Context" />
        <button type="button" class="quiet" disabled={report.loading} onClick={report.reload}>
          Look again
        </button>
      </div>
      {report.error && <Problem error={report.error} />}
      {report.loading && !report.value && (
        <p class="quiet-text" aria-busy="true">
          Looking at the context, and working the next compaction out…
        </p>
      )}
      {report.value && (
        <>
          <Fullness report={report.value} />
          <Parts report={report.value} />
          <Next report={report.value} id={id} />
          <Removed report={report.value} id={id} onRecall={recall.open} />
        </>
      )}
      {recall.dialog}
    </>
  );
}

function Fullness({ report }: { report: ContextReport }): VNode {
  const usage = usageSentence(report);
  return (
    <section class="context-section" aria-label="How full it is">
      <TokenBar context={barTokens(report.fullness)} />
      <p>{nearness(report.fullness)}</p>
      <p class="quiet-text">{windowSentence(report.fullness)}</p>
      {usage !== "" && <p class={isNearTheWindow(report) ? "notice" : "quiet-text"}>{usage}</p>}
      {report.warnings.map((warning) => (
        <p key={warningSentence(warning)} class="notice">
          {warningSentence(warning)}
        </p>
      ))}
    </section>
  );
}

function Parts({ report }: { report: ContextReport }): VNode {
  const { parts, tokens, tool_definition_tokens } = report.contents;
  const whole = tokens + tool_definition_tokens;
  return (
    <section class="context-section">
      <h2>What fills it</h2>
      {parts.length === 0 && <p class="quiet-text">Nothing: it has no messages.</p>}
      <ul class="context-parts">
        {parts.map((part) => (
          <Part key={part.part} part={part} whole={whole} />
        ))}
      </ul>
    </section>
  );
}

function Part({ part, whole }: { part: ContextPart; whole: number }): VNode {
  const percent = (part.tokens * 100) / Math.max(whole, 1);
  const shown = part.items.slice(0, ITEMS);
  const kind = part.part === "files-read" ? "file" : "tool";
  return (
    <li class="card context-part">
      <p class="title-row">
        <strong>{partName(part.part)}</strong>
        <span>
          {count(part.tokens)} tokens, {share(percent)}
        </span>
        {part.messages > 0 && <span class="note">{plural(part.messages, "message")}</span>}
      </p>
      <div class="part-bar" aria-hidden="true">
        <div class="part-filled" style={{ inlineSize: `${percent}%` }} />
      </div>
      {shown.length > 0 && (
        <details>
          <summary>{plural(part.items.length, kind)}</summary>
          <ul class="context-items">
            {shown.map((item) => (
              <li key={item.name}>
                <code>{item.name}</code>{" "}
                <span class="note">
                  {count(item.tokens)} tokens in {plural(item.count, part.part === "tool-calls" ? "call" : "result")}
                </span>
              </li>
            ))}
            {part.items.length > shown.length && (
              <li class="note">and {count(part.items.length - shown.length)} smaller ones</li>
            )}
          </ul>
        </details>
      )}
    </li>
  );
}

function Next({ report, id }: { report: ContextReport; id: string }): VNode {
  const { next, fullness } = report;
  const departures = savingDepartures(next);
  return (
    <section class="context-section">
      <h2>What would leave next</h2>
      <p>{nextSentence(next, fullness)}</p>
      {next.floor && (
        <p>
          What must stay takes {count(next.floor.tokens)} tokens:{" "}
          {next.floor.parts.map((part) => `${words(part.part)} ${count(part.tokens)}`).join(" + ")}.
        </p>
      )}
      {departures.length > 0 && (
        <>
          <ul class="cards">
            {departures.map((departure, at) => (
              <Leaving key={at} departure={departure} />
            ))}
          </ul>
          <p>
            <a class="button" href={hashOf({ page: "preview", id })}>
              Preview…
            </a>
          </p>
        </>
      )}
    </section>
  );
}

function Leaving({ departure }: { departure: Departure }): VNode {
  return (
    <li class="card">
      <p class="title-row">
        <span class="badge" data-outcome={OUTCOMES[departure.edit]}>
          {editName(departure.edit)}
        </span>
        <span>{departureMessages(departure)}</span>
        <span class="note">saves {count(departure.tokens_saved)} tokens</span>
      </p>
      {departure.words !== "" && (
        <p class="wrap" dir="auto">
          {departure.words}
        </p>
      )}
      <p class="note wrap">
        <code>{departure.strategy}</code> {departure.reason.detail}
      </p>
    </li>
  );
}

/** The outcome whose colour an edit has. */
const OUTCOMES: Record<Departure["edit"], string> = {
  drop: "dropped",
  summarize: "summarized",
  excerpt: "excerpted",
  trim: "trimmed",
};

interface RemovedProperties {
  report: ContextReport;
  id: string;
  onRecall: (handle: string) => void;
}

function Removed({ report: { removed }, id, onRecall }: RemovedProperties): VNode {
  const newest = removed.items.toReversed().slice(0, REMOVED);
  return (
    <section class="context-section">
      <h2>What has left</h2>
      <p>{removedSentence(removed)}</p>
      <ul class="cards">
        {newest.map((item) => (
          <Gone key={`${item.epoch} ${item.first} ${item.handle}`} item={item} id={id} onRecall={onRecall} />
        ))}
      </ul>
      {removed.items.length > newest.length && (
        <p class="note">
          and {count(removed.items.length - newest.length)} earlier ones:{" "}
          <a href={hashOf({ page: "history", id })}>all compactions</a>
        </p>
      )}
    </section>
  );
}

function Gone({ item, id, onRecall }: { item: RemovedItem; id: string; onRecall: (handle: string) => void }): VNode {
  const { handle } = item;
  return (
    <li class="card">
      <p class="title-row">
        <span class="badge" data-outcome={OUTCOMES[item.edit]}>
          {editName(item.edit)}
        </span>
        <span>
          {plural(item.messages, "message")}
          {item.first !== null && ` from #${item.first}`}
        </span>
        <span class="note">
          {count(item.tokens)} tokens, by {item.origin === "engine" ? "epitome" : "the agent"}
        </span>
      </p>
      {item.words !== "" && (
        <p class="wrap" dir="auto">
          {item.words}
        </p>
      )}
      <div class="buttons">
        {handle !== null && (
          <button type="button" onClick={() => onRecall(handle)}>
            Recall {handle}
          </button>
        )}
        <a class="button" href={hashOf({ page: "epoch", id, epoch: item.epoch })}>
          Before and after
        </a>
      </div>
    </li>
  );
}
