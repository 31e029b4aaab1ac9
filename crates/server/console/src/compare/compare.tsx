import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { EditReport, Outcome, Report, StoredMessage } from "../api/types";
import { t } from "../lang";
import { OUTCOMES, type Receipt, type Row, align, tally } from "../lib/align";
import { textOf, wholeText } from "../lib/blocks";
import { diffLines } from "../lib/diff";
import { count } from "../lib/format";
import { MessageCard, MessageLine } from "../session/message-card";
import { useRecall } from "../ui/recall";
import { Diff } from "./diff-view";

interface Properties {
  before: StoredMessage[];
  after: StoredMessage[];
  edits: EditReport[];
  receipts?: Report["messages"];
}

/** The outcomes in the order in which they are told. */
const IN_ORDER: Outcome[] = ["dropped", "summarized", "excerpted", "trimmed", "pinned", "kept"];

/** Messages of one run that are shown at first. */
const RUN = 40;

/** Both views side by side: every message of the one before with what became of it and why. */
export function Compare({ before, after, edits, receipts }: Properties): VNode {
  const rows = useMemo(() => align(before, after, edits, receipts), [before, after, edits, receipts]);
  const counts = useMemo(() => tally(rows), [rows]);
  const [hidden, setHidden] = useState<ReadonlySet<Outcome>>(new Set());
  const shows = (outcome: Outcome) => !hidden.has(outcome);
  return (
    <section class="compare" aria-label={t.compare.area}>
      <fieldset class="filters">
        <legend class="visually-hidden">{t.compare.show}</legend>
        {IN_ORDER.filter((outcome) => counts.has(outcome)).map((outcome) => (
          <label class="check" key={outcome}>
            <input
              type="checkbox"
              checked={shows(outcome)}
              onChange={() => {
                const next = new Set(hidden);
                if (!next.delete(outcome)) next.add(outcome);
                setHidden(next);
              }}
            />
            <span class="badge" data-outcome={outcome}>
              {t.compare.outcomes[outcome]}
            </span>
            {count(counts.get(outcome) ?? 0)}
          </label>
        ))}
      </fieldset>
      <div class="sides" aria-hidden="true">
        <h2>{t.compare.before}</h2>
        <h2>{t.compare.after}</h2>
      </div>
      {groups(rows, shows).map((group, position) => (
        <Group key={position} group={group} />
      ))}
    </section>
  );
}

type Group = { kind: "kept"; rows: Extract<Row, { kind: "kept" }>[] } | Exclude<Row, { kind: "kept" }>;

/** What is to be shown, with neighbours that stayed as they were together. */
function groups(rows: Row[], shows: (outcome: Outcome) => boolean): Group[] {
  const found: Group[] = [];
  for (const row of rows) {
    if (row.kind === "replaced") {
      const left = row.left.filter(({ receipt }) => shows(receipt.outcome));
      if (left.length > 0 || row.left.length === 0) found.push({ ...row, left });
    } else if (shows(row.receipt.outcome)) {
      const last = found.at(-1);
      if (row.kind === "edited") found.push(row);
      else if (last?.kind === "kept") last.rows.push(row);
      else found.push({ kind: "kept", rows: [row] });
    }
  }
  return found;
}

function Group({ group }: { group: Group }): VNode {
  switch (group.kind) {
    case "kept":
      return <Kept rows={group.rows} />;
    case "edited":
      return <Edited row={group} />;
    case "replaced":
      return <Replaced row={group} />;
  }
}

function Kept({ rows }: { rows: Extract<Row, { kind: "kept" }>[] }): VNode {
  const [most, setMost] = useState(0);
  return (
    <details class="kept" onToggle={(event) => event.currentTarget.open && setMost((most) => Math.max(most, RUN))}>
      <summary>{t.compare.asBefore(rows.length)}</summary>
      {rows.slice(0, most).map(({ before, receipt }) => (
        <div key={before.message.id} class="kept-row">
          <span class="badge" data-outcome={receipt.outcome}>
            {t.compare.outcomes[receipt.outcome]}
          </span>
          <MessageLine stored={before} />
        </div>
      ))}
      {most > 0 && <More left={rows.length - most} onClick={() => setMost(most + 10 * RUN)} />}
    </details>
  );
}

function More({ left, onClick }: { left: number; onClick: () => void }): VNode | null {
  if (left <= 0) return null;
  return (
    <button type="button" class="quiet" onClick={onClick}>
      {t.counts.moreMessages(left)}
    </button>
  );
}

function Edited({ row }: { row: Extract<Row, { kind: "edited" }> }): VNode {
  const { before, after, receipt } = row;
  const lines = useMemo(() => diffLines(wholeText(before.message), wholeText(after.message)), [before, after]);
  return (
    <div class="pair">
      <div class="side">
        <MessageLine stored={before} />
        <Diff lines={lines} hide="added" />
        <ReceiptView receipt={receipt} shown={after} />
      </div>
      <div class="side">
        <MessageLine stored={after} />
        <Diff lines={lines} hide="removed" />
      </div>
    </div>
  );
}

function Replaced({ row }: { row: Extract<Row, { kind: "replaced" }> }): VNode {
  const [most, setMost] = useState(RUN);
  return (
    <div class="pair">
      <div class="side">
        {together(row.left.slice(0, most)).map(({ receipt, messages }) => (
          <div key={messages[0]?.message.id} class="gone">
            <ReceiptView receipt={receipt} />
            {messages.map((stored) => (
              <MessageLine key={stored.message.id} stored={stored} />
            ))}
          </div>
        ))}
        <More left={row.left.length - most} onClick={() => setMost(most + 10 * RUN)} />
      </div>
      <div class="side">
        {row.came.map((stored) => (
          <MessageCard key={stored.message.id} stored={stored} />
        ))}
        {row.came.length === 0 && <p class="quiet-text">{t.compare.nothingInstead}</p>}
      </div>
    </div>
  );
}

interface Together {
  receipt: Receipt;
  messages: StoredMessage[];
}

/** Neighbours that left by the same edits have one receipt in common. */
function together(left: { message: StoredMessage; receipt: Receipt }[]): Together[] {
  const groups: Together[] = [];
  for (const { message, receipt } of left) {
    const last = groups.at(-1);
    const same =
      last?.receipt.outcome === receipt.outcome &&
      last.receipt.edits.length === receipt.edits.length &&
      last.receipt.edits.every((edit, position) => edit === receipt.edits[position]);
    if (last && same) last.messages.push(message);
    else groups.push({ receipt, messages: [message] });
  }
  return groups;
}

/** What became of a message, why, by whom, and the way back. */
function ReceiptView({ receipt, shown }: { receipt: Receipt; shown?: StoredMessage }): VNode {
  const recall = useRecall();
  return (
    <ul class="receipt">
      {receipt.edits.length === 0 && (
        <li>
          <span class="badge" data-outcome={receipt.outcome}>
            {t.compare.outcomes[receipt.outcome]}
          </span>
        </li>
      )}
      {receipt.edits.map(({ edit, strategy, reason, recall: handle }, position) => (
        <li key={position}>
          <span class="badge" data-outcome={OUTCOMES[edit]}>
            {t.compare.outcomes[OUTCOMES[edit]]}
          </span>{" "}
          <code>{reason.code}</code> {reason.detail} <span class="note">{t.compare.by(strategy)}</span>
          {reason.score !== null && <span class="note">{t.compare.score(Number(reason.score.toPrecision(3)))}</span>}{" "}
          {handle !== null && (
            <button type="button" class="link" onClick={() => recall(handle, shown && textWith(shown, handle))}>
              {t.words.recall}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The text of the block that names a handle: what was recalled is held against it. */
function textWith(stored: StoredMessage, handle: string): string | undefined {
  return stored.message.blocks.map(({ content }) => textOf(content)).find((text) => text.includes(handle));
}
