import type { HistoryItem, StoredMessage } from "../api/types";
import { t } from "../lang";

/** Which messages of how many are in sight, by their numbers, which count from 0 as everywhere. */
export function rangeText(messages: StoredMessage[], total: number): string {
  if (messages.length >= total) return t.counts.messages(total);
  const numbers = messages.flatMap(({ number }) => (number === null ? [] : [number]));
  return t.timeline.range(messages.length, total, numbers[0], numbers.at(-1));
}

/**
 * Where the compactions stand among the messages in sight: before which of them, by position; the number of messages
 * for those behind the last. A compaction stands behind the messages that were there when it was made; one that belongs
 * to messages out of sight is left out.
 */
export function epochsByPlace(
  epochs: HistoryItem[],
  messages: StoredMessage[],
  isStart: boolean,
  isEnd: boolean,
): Map<number, HistoryItem[]> {
  const placed = new Map<number, HistoryItem[]>();
  const numbered = messages.flatMap(({ number }, position) => (number === null ? [] : [{ number, position }]));
  const first = numbered[0];
  const last = numbered.at(-1);
  for (const entry of epochs) {
    const next = numbered.find(({ number }) => number >= entry.messages);
    const isHere = next
      ? next !== first || isStart || next.number === entry.messages
      : isEnd || last?.number === entry.messages - 1;
    if (!isHere) continue;
    const place = next?.position ?? messages.length;
    placed.set(place, [...(placed.get(place) ?? []), entry]);
  }
  return placed;
}
