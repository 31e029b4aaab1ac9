import type { ComponentChildren, VNode } from "preact";

import type { ApiError } from "../api/client";
import { count, sentence, words } from "../lib/format";

/** What went wrong, and what can be done about it. */
export function Problem({ error, children }: { error: ApiError; children?: ComponentChildren }): VNode {
  const floor = error.report?.floor;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{sentence(error.message)}</strong> {sentence(error.help)}
      </p>
      {floor && (
        <p>
          What must stay takes {count(floor.tokens)} tokens:{" "}
          {floor.parts.map((part) => `${words(part.part)} ${count(part.tokens)}`).join(" + ")}.
        </p>
      )}
      {children}
    </div>
  );
}
