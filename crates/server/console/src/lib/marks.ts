/** A piece of a text: as it is, or a mark of the engine that names what can be recalled. */
export type Piece = { kind: "text"; text: string } | { kind: "mark"; text: string; handle: string };

// `[… 132 lines, 1,204 tokens elided · recall e3f90a12]`, and the same in Chinese.
const MARK = /\[[^[\]\n]{1,200} · (?:recall|可取回) ([0-9a-f]{8,64})\]/g;

/** The text in pieces; joined, they are the text again. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > at) found.push({ kind: "text", text: text.slice(at, match.index) });
    found.push({ kind: "mark", text: match[0], handle: match[1] ?? "" });
    at = match.index + match[0].length;
  }
  if (at < text.length || found.length === 0) found.push({ kind: "text", text: text.slice(at) });
  return found;
}
