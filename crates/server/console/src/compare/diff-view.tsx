import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { t } from "../lang";
import { type DiffLine, type DiffRun, runs } from "../lib/diff";
import { MarkedText } from "../ui/recall";

/** Equal lines next to a difference that stay in sight. */
const AROUND = 3;

/** A run longer than this is folded. */
const FOLDED = 400;

interface Properties {
  lines: DiffLine[];
  /** The side that is not shown. */
  hide: "added" | "removed";
}

/** One side of two texts that are held side by side: what the other side does not have is highlighted. */
export function Diff({ lines, hide }: Properties): VNode {
  const shown = runs(lines.filter((line) => line.kind !== hide));
  return (
    <div class="diff" tabIndex={0} role="group" aria-label={t.compare.differences}>
      {shown.map((run, position) => (
        <Run key={position} run={run} isFirst={position === 0} isLast={position === shown.length - 1} />
      ))}
    </div>
  );
}

function Run({ run, isFirst, isLast }: { run: DiffRun; isFirst: boolean; isLast: boolean }): VNode {
  const [open, setOpen] = useState(false);
  const { kind, lines } = run;
  if (kind === "same" && !open && lines.length > AROUND * 3) {
    const head = isFirst ? [] : lines.slice(0, AROUND);
    const tail = isLast ? [] : lines.slice(-AROUND);
    const folded = lines.length - head.length - tail.length;
    return (
      <>
        <Lines kind={kind} lines={head} />
        <Unfold text={t.counts.equalLines(folded)} onClick={() => setOpen(true)} />
        <Lines kind={kind} lines={tail} />
      </>
    );
  }
  if (!open && lines.length > FOLDED) {
    return (
      <>
        <Lines kind={kind} lines={lines.slice(0, FOLDED)} />
        <Unfold text={t.counts.moreLines(lines.length - FOLDED)} onClick={() => setOpen(true)} />
      </>
    );
  }
  return <Lines kind={kind} lines={lines} />;
}

function Unfold({ text, onClick }: { text: string; onClick: () => void }): VNode {
  return (
    <button type="button" class="unfold" onClick={onClick}>
      {text}
    </button>
  );
}

function Lines({ kind, lines }: DiffRun): VNode | null {
  if (lines.length === 0) return null;
  const text = <MarkedText text={lines.join("\n")} />;
  if (kind === "removed") return <del class="lines">{text}</del>;
  if (kind === "added") return <ins class="lines">{text}</ins>;
  return <div class="lines">{text}</div>;
}
