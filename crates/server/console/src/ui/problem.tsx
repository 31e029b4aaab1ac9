import type { ComponentChildren, VNode } from "preact";

import type { ApiError } from "../api/client";
import { sentence } from "../lib/format";
import { floorSentence } from "../lib/report";

/** What went wrong, and what can be done about it. */
export function Problem({ error, children }: { error: ApiError; children?: ComponentChildren }): VNode {
  const floor = error.report?.floor;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{sentence(error.message)}</strong> {sentence(error.help)}
      </p>
      {floor && <p>{floorSentence(floor)}</p>}
      {children}
    </div>
  );
}
