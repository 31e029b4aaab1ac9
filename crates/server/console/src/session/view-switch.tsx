import type { VNode } from "preact";

import type { View } from "../api/client";
import { t } from "../lang";

/** Which of the two views of the session is shown. */
export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }): VNode {
  const views: { view: View; label: string; title: string }[] = [
    { view: "compacted", label: t.views.compacted, title: t.views.compactedWhat },
    { view: "full", label: t.views.full, title: t.views.fullWhat },
  ];
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">{t.views.legend}</legend>
      {views.map((choice) => (
        <label key={choice.view} title={choice.title}>
          <input
            type="radio"
            name="view"
            value={choice.view}
            checked={view === choice.view}
            onChange={() => onChange(choice.view)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
