import { Fragment, type VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { HistoryItem } from "../api/types";
import { count } from "../lib/format";
import { epochsByPlace, rangeText } from "../lib/places";
import { Problem } from "../ui/problem";
import { type BubbleActions, EpochBubble } from "./bubble";
import { MessageCard } from "./message-card";
import type { Messages } from "./use-messages";

/** A message of the full history that somebody wants to see, by its number; another object for each time. */
export interface Aim {
  number: number;
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
  const aimed = useRef<HTMLElement>(null);
  const met = useRef<Aim | null>(null);
  useLayoutEffect(() => {
    if (aim === met.current || !aimed.current) return;
    met.current = aim;
    aimed.current.scrollIntoView({ block: "start" });
    aimed.current.focus({ preventScroll: true });
  });
  const to = from + messages.messages.length;
  const placed = epochsByPlace(epochs, messages.messages, from === 0, to >= total);
  const bubbles = (place: number) =>
    placed.get(place)?.map((entry) => (
      <li key={`epoch ${entry.epoch}`}>
        <EpochBubble session={session} entry={entry} actions={actions} />
      </li>
    ));
  return (
    <div class="timeline" aria-busy={messages.loading}>
      {messages.error && (
        <Problem error={messages.error}>
          <button type="button" onClick={messages.refresh}>
            Try again
          </button>
        </Problem>
      )}
      {from > 0 && (
        <div class="pager">
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.earlier}>
            Show earlier messages ({count(from)} more)
          </button>
          <button type="button" class="quiet" disabled={messages.loading} onClick={() => messages.jump(0)}>
            Go to the first
          </button>
        </div>
      )}
      {total === 0 && !messages.loading && !messages.error && <p class="quiet-text">No messages yet.</p>}
      <ol class="messages" start={from}>
        {messages.messages.map((stored, position) => (
          <Fragment key={stored.message.id}>
            {bubbles(position)}
            <li>
              <MessageCard
                stored={stored}
                onSummary={onSummary}
                aimed={aim !== null && messages.view === "full" && stored.number === aim.number ? aimed : undefined}
              />
            </li>
          </Fragment>
        ))}
        {bubbles(messages.messages.length)}
      </ol>
      {to < total && (
        <div class="pager">
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.later}>
            Show later messages ({count(total - to)} more)
          </button>
          <button type="button" class="quiet" disabled={messages.loading} onClick={messages.toEnd}>
            Go to the newest
          </button>
        </div>
      )}
      {total > 0 && (
        <p class="quiet-text counted">{rangeText(messages.messages, total)}</p>
      )}
    </div>
  );
}
