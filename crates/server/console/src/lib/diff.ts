/** A line of two texts held side by side. */
export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
}

/**
 * The lines of both texts in one list: without the added ones they are `before`, without the removed ones `after`.
 *
 * Lines that both texts hold once are paired first, in the longest order that both keep; between them, equal lines are
 * paired as they come. Near-linear, so that results of a hundred thousand lines can be compared.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const left = before.split("\n");
  const right = after.split("\n");
  const lines: DiffLine[] = [];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let leftEnd = left.length;
  let rightEnd = right.length;
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd -= 1;
    rightEnd -= 1;
  }
  push(lines, "same", left, 0, start);
  let leftAt = start;
  let rightAt = start;
  for (const [leftAnchor, rightAnchor] of anchors(left, right, start, leftEnd, rightEnd)) {
    between(lines, left, right, leftAt, leftAnchor, rightAt, rightAnchor);
    push(lines, "same", left, leftAnchor, leftAnchor + 1);
    leftAt = leftAnchor + 1;
    rightAt = rightAnchor + 1;
  }
  between(lines, left, right, leftAt, leftEnd, rightAt, rightEnd);
  push(lines, "same", left, leftEnd, left.length);
  return lines;
}

function push(into: DiffLine[], kind: DiffLine["kind"], lines: string[], from: number, to: number): void {
  for (let at = from; at < to; at += 1) into.push({ kind, text: lines[at] ?? "" });
}

/** Pairs of positions of lines that stand once in each text, rising in both. */
function anchors(left: string[], right: string[], start: number, leftEnd: number, rightEnd: number): [number, number][] {
  const leftOnce = once(left, start, leftEnd);
  const rightOnce = once(right, start, rightEnd);
  const pairs: [number, number][] = [];
  for (const [line, position] of leftOnce) {
    const other = rightOnce.get(line);
    if (position >= 0 && other !== undefined && other >= 0) pairs.push([position, other]);
  }
  return longestRising(pairs);
}

/** Where each line stands, -1 where it stands more than once; in the order of the text. */
function once(lines: string[], from: number, to: number): Map<string, number> {
  const positions = new Map<string, number>();
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? "";
    positions.set(line, positions.has(line) ? -1 : at);
  }
  return positions;
}

/** The longest part of `pairs`, which rise in the first number, that rises in the second too. */
function longestRising(pairs: [number, number][]): [number, number][] {
  const tails: number[] = []; // the pair that ends the best run of each length
  const previous: number[] = [];
  pairs.forEach(([, value], index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  });
  const rising: [number, number][] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) rising.push(pair);
  }
  return rising.reverse();
}

/** The stretch between two anchors: each line of the right is paired with the next equal one of the left. */
function between(
  into: DiffLine[],
  left: string[],
  right: string[],
  leftFrom: number,
  leftTo: number,
  rightFrom: number,
  rightTo: number,
): void {
  const places = new Map<string, number[]>();
  for (let at = leftTo - 1; at >= leftFrom; at -= 1) {
    const line = left[at] ?? "";
    const list = places.get(line);
    if (list) list.push(at);
    else places.set(line, [at]);
  }
  let at = leftFrom;
  let pending = rightFrom;
  for (let other = rightFrom; other < rightTo; other += 1) {
    const list = places.get(right[other] ?? "");
    while (list && (list.at(-1) ?? leftTo) < at) list.pop();
    const place = list?.at(-1);
    if (place === undefined) continue;
    push(into, "removed", left, at, place);
    push(into, "added", right, pending, other);
    push(into, "same", left, place, place + 1);
    at = place + 1;
    pending = other + 1;
  }
  push(into, "removed", left, at, leftTo);
  push(into, "added", right, pending, rightTo);
}

/** A run of lines of one kind. */
export interface DiffRun {
  kind: DiffLine["kind"];
  lines: string[];
}

/** Neighbouring lines of one kind together. */
export function runs(lines: DiffLine[]): DiffRun[] {
  const found: DiffRun[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last?.kind === line.kind) last.lines.push(line.text);
    else found.push({ kind: line.kind, lines: [line.text] });
  }
  return found;
}
