import { Fragment, type VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { HistoryItem } from "../api/types";
import { t } from "../lang";
import { epochsByPlace, rangeText } from "../lib/places";
import { Problem } from "../ui/problem";
import { type BubbleActions, EpochBubble } from "./bubble";
import { MessageCard } from "./message-card";
import type { Messages } from "./use-messages";

/** A message of the full history that somebody wants to see, by its number, or the compaction behind it; another object for each time. */
export interface Aim {
  number: number;
  epoch?: number;
}

interface Properties {
  session: string;
  messages: Messages;
  epochs: HistoryItem[];
  actions: BubbleActions;
  onSummary: (id: string) => void;
  aim: Aim | null;
}

/** The messages in sight, with the compactions where they happened. */
export function Timeline({ session, messages, epochs, actions, onSummary, aim }: Properties): VNode {
  const { from, total, endings } = messages;
  useLayoutEffect(() => {
    if (endings > 0) scrollTo(0, document.documentElement.scrollHeight);
  }, [endings]);
  // Once: what is read again later leaves the place where one has gone since.
  const aimed = useRef<HTMLElement & HTMLLIElement>(null);
  const met = useRef<Aim | null>(null);
  useLayoutEffect(() => {
    if (aim === met.current || !aimed.current) return;
    met.current = aim;
    aimed.current.scrollIntoView({ block: "start" });
    aimed.current.focus({ preventScroll: true });
  });
  const to = from + messages.messages.length;
  const placed = epochsByPlace(epochs, messages.messages, from === 0, to >= total);
  const isAimedAt = (number: number | null) =>
    aim !== null && aim.epoch === undefined && messages.view === "full" && number === aim.number;
  const bubbles = (place: number) =>
    placed.get(place)?.map((entry) => (
      <li
        key={`epoch ${entry.epoch}`}
        {...(aim?.epoch === entry.epoch && messages.view === "full" && messages.messages.length > 0 && { ref: aimed, tabIndex: -1, "data-aimed": true })}
      >
        <EpochBubble session={session} entry={entry} actions={actions} />
      </li>
    ));
  return (
    <div class="timeline" aria-busy={messages.loading}>
      {messages.error && (
        <Problem error={messages.error}>
          <button type="button" onClick={messages.refresh}>
            {t.words.tryAgain}
          </button>
        </Problem>
      )}
      {from > 0 && (
        <div class="pager">
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.earlier}>
            {t.timeline.earlier(from)}
          </button>
          <button type="button" class="quiet" disabled={messages.loading} onClick={() => messages.jump(0)}>
            {t.timeline.toFirst}
          </button>
        </div>
      )}
      {total === 0 && !messages.loading && !messages.error && <p class="quiet-text">{t.timeline.empty}</p>}
      <ol class="messages" start={from}>
        {messages.messages.map((stored, position) => (
          <Fragment key={stored.message.id}>
            {bubbles(position)}
            <li>
              <MessageCard
                stored={stored}
                onSummary={onSummary}
                aimed={isAimedAt(stored.number) ? aimed : undefined}
              />
            </li>
          </Fragment>
        ))}
        {bubbles(messages.messages.length)}
      </ol>
      {to < total && (
        <div class="pager">
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.later}>
            {t.timeline.later(total - to)}
          </button>
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.toEnd}>
            {t.timeline.toNewest}
          </button>
        </div>
      )}
      {total > 0 && (
        <p class="quiet-text counted">{rangeText(messages.messages, total)}</p>
      )}
    </div>
  );
}
