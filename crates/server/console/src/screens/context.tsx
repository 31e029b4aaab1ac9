import type { VNode } from "preact";
import { useCallback } from "preact/hooks";

import type { ContextPart, ContextReport, Departure, RemovedItem } from "../api/types";
import { t } from "../lang";
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
import { floorSentence } from "../lib/report";
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
        <a href={hashOf({ page: "session", id })}>{t.session.back}</a>
      </p>
      <div class="title-row">
        <Heading title={t.context.title} />
        <button type="button" class="quiet" disabled={report.loading} onClick={report.reload}>
          {t.context.again}
        </button>
      </div>
      {report.error && <Problem error={report.error} />}
      {report.loading && !report.value && (
        <p class="quiet-text" aria-busy="true">
          {t.context.looking}
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
    <section class="context-section" aria-label={t.context.fullness}>
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
      <h2>{t.context.fills}</h2>
      {parts.length === 0 && <p class="quiet-text">{t.context.nothingFills}</p>}
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
  return (
    <li class="card context-part">
      <p class="title-row">
        <strong>{partName(part.part)}</strong>
        <span>{t.context.tokensShare(part.tokens, percent)}</span>
        {part.messages > 0 && <span class="note">{t.counts.messages(part.messages)}</span>}
      </p>
      <div class="part-bar" aria-hidden="true">
        <div class="part-filled" style={{ inlineSize: `${percent}%` }} />
      </div>
      {shown.length > 0 && (
        <details>
          <summary>{part.part === "files-read" ? t.counts.files(part.items.length) : t.counts.tools(part.items.length)}</summary>
          <ul class="context-items">
            {shown.map((item) => (
              <li key={item.name}>
                <code>{item.name}</code>{" "}
                <span class="note">
                  {part.part === "tool-calls" ? t.context.itemCalls(item.tokens, item.count) : t.context.itemResults(item.tokens, item.count)}
                </span>
              </li>
            ))}
            {part.items.length > shown.length && (
              <li class="note">{t.context.smaller(part.items.length - shown.length)}</li>
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
      <h2>{t.context.next}</h2>
      <p>{nextSentence(next, fullness)}</p>
      {next.floor && <p>{floorSentence(next.floor)}</p>}
      {departures.length > 0 && (
        <>
          <ul class="cards">
            {departures.map((departure, at) => (
              <Leaving key={at} departure={departure} />
            ))}
          </ul>
          <p>
            <a class="button" href={hashOf({ page: "preview", id })}>
              {t.context.preview}
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
        <span class="note">{t.context.saves(departure.tokens_saved)}</span>
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
      <h2>{t.context.removed}</h2>
      <p>{removedSentence(removed)}</p>
      <ul class="cards">
        {newest.map((item) => (
          <Gone key={`${item.epoch} ${item.first} ${item.handle}`} item={item} id={id} onRecall={onRecall} />
        ))}
      </ul>
      {removed.items.length > newest.length && (
        <p class="note">
          {t.context.earlier(removed.items.length - newest.length)}{" "}
          <a href={hashOf({ page: "compactions", id })}>{t.context.all}</a>
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
        <span>{t.context.messagesFrom(item.messages, item.first)}</span>
        <span class="note">{t.context.tokensBy(item.tokens, item.origin === "engine")}</span>
      </p>
      {item.words !== "" && (
        <p class="wrap" dir="auto">
          {item.words}
        </p>
      )}
      <div class="buttons">
        {handle !== null && (
          <button type="button" onClick={() => onRecall(handle)}>
            {t.context.recall(handle)}
          </button>
        )}
        <a class="button" href={hashOf({ page: "epoch", id, epoch: item.epoch })}>
          {t.bubble.beforeAndAfter}
        </a>
      </div>
    </li>
  );
}
