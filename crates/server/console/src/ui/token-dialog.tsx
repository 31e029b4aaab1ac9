import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Dialog } from "./dialog";

interface Properties {
  wasRefused: boolean;
  onAnswer: (token: string | null) => void;
}

/** Asks for the token of a service that wants one. */
export function TokenDialog({ wasRefused, onAnswer }: Properties): VNode {
  const [token, setToken] = useState("");
  return (
    <Dialog title="This service asks for a token" onClose={() => onAnswer(null)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") onAnswer(token.trim());
        }}
      >
        {wasRefused && (
          <p class="field-problem" role="alert">
            That token was not taken.
          </p>
        )}
        <label>
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            autofocus
            spellcheck={false}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p class="quiet-text">It is kept until this tab is closed, and sent to this service only.</p>
        <div class="buttons end">
          <button type="submit" class="primary" disabled={token.trim() === ""}>
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
