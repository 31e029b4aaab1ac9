import type { VNode } from "preact";

import type { View } from "../api/client";

const VIEWS: { view: View; label: string; title: string }[] = [
  { view: "compacted", label: "Compacted view", title: "What the model would see now" },
  { view: "full", label: "Full history", title: "Everything that was ever said" },
];

/** Which of the two views of the session is shown. */
export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }): VNode {
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">View</legend>
      {VIEWS.map((choice) => (
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
