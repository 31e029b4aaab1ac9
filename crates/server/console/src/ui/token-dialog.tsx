import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { t } from "../lang";
import { Dialog } from "./dialog";

interface Properties {
  wasRefused: boolean;
  onAnswer: (token: string | null) => void;
}

/** Asks for the token of a service that wants one. */
export function TokenDialog({ wasRefused, onAnswer }: Properties): VNode {
  const [token, setToken] = useState("");
  return (
    <Dialog title={t.token.title} onClose={() => onAnswer(null)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") onAnswer(token.trim());
        }}
      >
        {wasRefused && (
          <p class="field-problem" role="alert">
            {t.token.refused}
          </p>
        )}
        <label>
          <span>{t.words.token}</span>
          <input
            type="password"
            autocomplete="off"
            autofocus
            spellcheck={false}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p class="quiet-text">{t.token.kept}</p>
        <div class="buttons end">
          <button type="submit" class="primary" disabled={token.trim() === ""}>
            {t.token.goOn}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
