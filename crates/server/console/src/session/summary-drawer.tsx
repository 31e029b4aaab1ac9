import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import type { Client } from "../api/client";
import type { HistoryItem, StoredMessage } from "../api/types";
import { t } from "../lang";
import { Markdown } from "../lib/markdown";
import { pieces } from "../lib/marks";
import { isTranscript } from "../lib/transcript";
import { Dialog } from "../ui/dialog";
import { useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { MarkedText, useRecall } from "../ui/recall";
import { MessageCard } from "./message-card";

/** Messages behind a summary that are fetched at once. */
const PAGE = 50;

/** Messages among which one is looked for at once; the service gives no more. */
const FOUND_IN = 500;

/** Which summary: by its message's id, or by the compaction that wrote it. */
export type SummaryChoice = { id: string } | { entry: HistoryItem };

interface Properties {
  session: string;
  choice: SummaryChoice;
  onClose: () => void;
}

/** A summary as a page, and the messages that it stands for. */
export function SummaryDrawer({ session, choice, onClose }: Properties): VNode {
  const client = useClient();
  const found = useLoad(
    useCallback(async (): Promise<{ id: string | null; text: string }[]> => {
      if ("id" in choice) {
        const message = await find(client, session, choice.id);
        return [{ id: choice.id, text: message ? plainText(message.message) : "" }];
      }
      const { entry } = choice;
      if (entry.undone) return entry.summaries.map((text) => ({ id: null, text }));
      const { before, after } = await client.epoch(session, entry.epoch);
      const old = new Set(before.map(({ message }) => message.id));
      const written = after
        .filter(({ message, is_summary }) => is_summary && !old.has(message.id))
        .map(({ message }) => ({ id: message.id, text: plainText(message) }));
      if (written.length === 0) return entry.summaries.map((text) => ({ id: null, text }));
      // The compaction's own summary stands first in its list.
      const main = entry.summaries[0];
      return [...written.filter(({ text }) => text === main), ...written.filter(({ text }) => text !== main)];
    }, [client, session, choice]),
  );
  return (
    <Dialog title={t.summary.title} kind="drawer" onClose={onClose}>
      {found.error && <Problem error={found.error} />}
      {found.loading && <p class="quiet-text">{t.summary.fetching}</p>}
      {found.value?.map(({ id, text }, position) => (
        <section key={id ?? position} class="summary">
          <SummaryText text={text} />
          {id === null ? (
            <p class="quiet-text">{t.summary.undone}</p>
          ) : (
            <Behind session={session} summary={id} />
          )}
        </section>
      ))}
    </Dialog>
  );
}

/** A message of the compacted view. Summaries stand near its beginning, so that the first page is nearly always enough. */
async function find(client: Client, session: string, id: string): Promise<StoredMessage | undefined> {
  for (let from = 0; ; from += FOUND_IN) {
    const { total, messages } = await client.messages(session, "compacted", from, FOUND_IN);
    const found = messages.find((stored) => stored.message.id === id);
    if (found || from + FOUND_IN >= total) return found;
  }
}

function plainText(message: StoredMessage["message"]): string {
  return message.blocks.map(({ content }) => (content.type === "text" ? content.text : "")).join("\n");
}

/** The engine's heading with its handle as a button, and the rest as Markdown, or line by line where it is a transcript. */
function SummaryText({ text }: { text: string }): VNode {
  const recall = useRecall();
  const [first] = pieces(text);
  const heading = first?.kind === "mark" ? first : null;
  const rest = heading ? text.slice(heading.text.length).trimStart() : text;
  return (
    <>
      {heading && (
        <p>
          <button type="button" class="mark" onClick={() => recall(heading.handle)}>
            {heading.text}
          </button>
        </p>
      )}
      <SummaryBody text={rest} />
    </>
  );
}

function SummaryBody({ text }: { text: string }): VNode {
  if (text.trim() === "") return <p class="quiet-text">{t.summary.empty}</p>;
  if (!isTranscript(text)) return <Markdown text={text} />;
  return (
    <div class="text">
      <MarkedText text={text} />
    </div>
  );
}

function Behind({ session, summary }: { session: string; summary: string }): VNode {
  const client = useClient();
  const [most, setMost] = useState(PAGE);
  const [open, setOpen] = useState(false);
  const loaded = useLoad(
    useCallback(() => client.behind(session, summary, 0, open ? most : 1), [client, session, summary, most, open]),
  );
  const total = loaded.value?.total ?? 0;
  if (loaded.error?.status === 404) {
    return <p class="quiet-text">{t.summary.notInForce}</p>;
  }
  return (
    <details class="behind" onToggle={(event) => event.currentTarget.open && setOpen(true)}>
      <summary>{t.summary.behind(total)}</summary>
      {loaded.error && <Problem error={loaded.error} />}
      {open && (
        <ol class="messages">
          {loaded.value?.messages.map((stored) => (
            <li key={stored.message.id}>
              <MessageCard stored={{ ...stored, compacted_at: null }} />
            </li>
          ))}
        </ol>
      )}
      {open && loaded.value && total > loaded.value.messages.length && (
        <button type="button" class="quiet" disabled={loaded.loading} onClick={() => setMost(most + 4 * PAGE)}>
          {t.counts.moreMessages(total - loaded.value.messages.length)}
        </button>
      )}
    </details>
  );
}
