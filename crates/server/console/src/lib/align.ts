import type { EditReport, Outcome, Report, StoredMessage } from "../api/types";

/** What became of a message, with every edit that touched it. */
export interface Receipt {
  outcome: Outcome;
  edits: EditReport[];
}

/** Messages of the two views that stand beside each other. */
export type Row =
  | { kind: "kept"; before: StoredMessage; after: StoredMessage; receipt: Receipt }
  | { kind: "edited"; before: StoredMessage; after: StoredMessage; receipt: Receipt }
  /** Messages that left, and what came in their place. */
  | { kind: "replaced"; left: { message: StoredMessage; receipt: Receipt }[]; came: StoredMessage[] };

/** Every message of the view before with what became of it, in order; what came instead stands where it came. */
export function align(
  before: StoredMessage[],
  after: StoredMessage[],
  edits: EditReport[],
  receipts: Report["messages"] = [],
): Row[] {
  const touched = editsByMessage(edits);
  const told = new Map(receipts.map((receipt) => [receipt.id, receipt.outcome]));
  const places = new Map(after.map((message, place) => [message.message.id, place]));
  const rows: Row[] = [];
  const shown = new Set<number>();
  let next = 0;
  const replaced = () => {
    const last = rows.at(-1);
    if (last?.kind === "replaced") return last;
    const row: Row = { kind: "replaced", left: [], came: [] };
    rows.push(row);
    return row;
  };
  const cameUntil = (end: number) => {
    for (; next < end; next += 1) {
      const message = after[next];
      if (message && !shown.has(next)) replaced().came.push(message);
    }
  };
  const ids = new Set(before.map((message) => message.message.id));
  for (const message of before) {
    const { id } = message.message;
    const own = touched.get(id) ?? [];
    const place = places.get(id);
    const stays = place === undefined ? undefined : after[place];
    if (place === undefined || !stays) {
      replaced().left.push({ message, receipt: { outcome: outcome(told.get(id), own, true), edits: own } });
      continue;
    }
    // What was added stands before this message; originals that moved are shown with their own pair.
    for (let at = next; at < place; at += 1) if (ids.has(after[at]?.message.id ?? "")) shown.add(at);
    cameUntil(place);
    shown.add(place);
    const receipt = { outcome: outcome(told.get(id), own, false), edits: own };
    const kind = receipt.outcome === "kept" || receipt.outcome === "pinned" ? "kept" : "edited";
    rows.push({ kind, before: message, after: stays, receipt });
  }
  cameUntil(after.length);
  return rows;
}

function editsByMessage(edits: EditReport[]): Map<string, EditReport[]> {
  const touched = new Map<string, EditReport[]>();
  for (const edit of edits) {
    for (const id of edit.messages) {
      const list = touched.get(id);
      if (list) list.push(edit);
      else touched.set(id, [edit]);
    }
  }
  return touched;
}

/** What an edit comes to where it is the last one. */
export const OUTCOMES = { drop: "dropped", summarize: "summarized", excerpt: "excerpted", trim: "trimmed" } as const;

/** The outcome that the report tells, or the one that the message's edits come to. */
function outcome(told: Outcome | undefined, edits: EditReport[], hasLeft: boolean): Outcome {
  if (told) return told;
  const wanted = edits.filter((edit) => (edit.edit === "drop" || edit.edit === "summarize") === hasLeft);
  const last = wanted.at(-1);
  if (last) return OUTCOMES[last.edit];
  return hasLeft ? "dropped" : "kept";
}

/** How many messages had each outcome. */
export function tally(rows: Row[]): Map<Outcome, number> {
  const counts = new Map<Outcome, number>();
  const add = ({ outcome }: Receipt) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  for (const row of rows) {
    if (row.kind === "replaced") row.left.forEach(({ receipt }) => add(receipt));
    else add(row.receipt);
  }
  return counts;
}
