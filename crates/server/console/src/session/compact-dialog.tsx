import type { VNode } from "preact";
import { useState } from "preact/hooks";

import type { CompactOptions } from "../api/client";
import { Dialog } from "../ui/dialog";

interface Properties {
  onCompact: (options: CompactOptions) => void;
  onPreview: (options: CompactOptions) => void;
  onClose: () => void;
}

/** Asks what a compaction is to keep in mind, and whether to look at it first. */
export function CompactDialog({ onCompact, onPreview, onClose }: Properties): VNode {
  const [focus, setFocus] = useState("");
  const [target, setTarget] = useState("");
  const tokens = target.trim() === "" ? null : Number(target);
  const isBad = tokens !== null && !(Number.isInteger(tokens) && tokens > 0 && tokens < 4_294_967_296);
  const options: CompactOptions = {
    ...(focus.trim() !== "" && { focus: focus.trim() }),
    ...(tokens !== null && { target: tokens }),
  };
  return (
    <Dialog title="Compact this session" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBad) onPreview(options);
        }}
      >
        <label>
          <span>Focus (optional)</span>
          <input
            type="text"
            value={focus}
            maxLength={2000}
            autofocus
            placeholder="what the work goes on with, such as: the parser"
            onInput={(event) => setFocus(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>Target in tokens (optional)</span>
          <input
            type="text"
            inputMode="numeric"
            value={target}
            aria-invalid={isBad}
            placeholder="as the settings say"
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
        </label>
        {isBad && (
          <p class="field-problem" role="alert">
            A target is a whole number of tokens above 0.
          </p>
        )}
        <div class="buttons end">
          <button type="button" disabled={isBad} onClick={() => onCompact(options)}>
            Compact now
          </button>
          <button type="submit" class="primary" disabled={isBad}>
            Preview first
          </button>
        </div>
      </form>
    </Dialog>
  );
}
