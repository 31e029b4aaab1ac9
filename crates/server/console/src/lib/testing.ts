import type { Content, EditKind, EditReport, Message, StoredMessage } from "../api/types";

/** A message for tests. */
export function message(id: string, parts: Partial<Message> = {}, stored: Partial<StoredMessage> = {}): StoredMessage {
  return {
    number: Number.isNaN(Number(id)) ? null : Number(id),
    message: { id, role: "user", origin: "typed", blocks: [text(id)], ...parts },
    is_edited: false,
    is_summary: false,
    compacted_at: null,
    compacted_into: null,
    ...stored,
  };
}

export function text(text: string): { content: Content } {
  return { content: { type: "text", text } };
}

/** An edit for tests. */
export function edit(kind: EditKind, messages: string[]): EditReport {
  const reason = { code: "because", detail: "", score: null };
  return { edit: kind, strategy: "test", messages, tokens_saved: 0, reason, recall: null };
}
