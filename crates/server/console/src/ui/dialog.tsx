import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../lang";

interface Properties {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** In the middle of the page, the same but wide, or a drawer at its side. */
  kind?: "box" | "wide" | "drawer";
}

/**
 * A modal dialog. The browser's own: the rest of the page is inert, Escape closes it, and the focus goes back to where
 * it came from.
 */
export function Dialog({ title, onClose, children, kind = "box" }: Properties): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // before it leaves the page, or the focus would be lost
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${kind}`}
      aria-labelledby={label}
      onCancel={(event) => {
        if (event.target !== dialog.current) return; // a file chooser inside was cancelled
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose(); // beside it
      }}
    >
      <div class="dialog-inside">
        <header class="dialog-head">
          <h2 id={label}>{title}</h2>
          <button type="button" class="icon" aria-label={t.words.close} onClick={onClose}>
            ✕
          </button>
        </header>
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  );
}
