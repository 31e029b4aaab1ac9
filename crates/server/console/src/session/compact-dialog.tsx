import type { VNode } from "preact";
import { useState } from "preact/hooks";

import type { CompactOptions } from "../api/client";
import { t } from "../lang";
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
    <Dialog title={t.compact.title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBad) onPreview(options);
        }}
      >
        <label>
          <span>{t.compact.focus}</span>
          <input
            type="text"
            value={focus}
            maxLength={2000}
            autofocus
            placeholder={t.compact.focusExample}
            onInput={(event) => setFocus(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>{t.compact.target}</span>
          <input
            type="text"
            inputMode="numeric"
            value={target}
            aria-invalid={isBad}
            placeholder={t.compact.targetDefault}
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
        </label>
        {isBad && (
          <p class="field-problem" role="alert">
            {t.compact.badTarget}
          </p>
        )}
        <div class="buttons end">
          <button type="button" disabled={isBad} onClick={() => onCompact(options)}>
            {t.compact.now}
          </button>
          <button type="submit" class="primary" disabled={isBad}>
            {t.compact.preview}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
