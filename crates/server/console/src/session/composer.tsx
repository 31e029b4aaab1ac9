import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";

import type { Appended } from "../api/types";
import { t } from "../lang";
import { commandList, unknownCommand } from "../lib/commands";
import { useAction, useAnnounce, useClient } from "../ui/hooks";
import { Problem } from "../ui/problem";

interface Properties {
  session: string;
  onAppended: (answer: Appended) => void;
}

/** Adds what a user says to the session, or runs a command. No model answers: this is a console and no chat. */
export function Composer({ session, onAppended }: Properties): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [text, setText] = useState("");
  const [unknown, setUnknown] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const sending = useRef<string | null>(null);
  const next = useRef<string | null>(null); // entered while `sending` was on its way
  const send = async (typed: string, commands = true): Promise<void> => {
    if (typed.trim() === "") return;
    if (sending.current !== null) {
      if (typed !== sending.current) next.current = typed;
      return;
    }
    // A message is in the session for good, and a mistyped command would be one.
    const mistyped = commands ? unknownCommand(typed) : null;
    setUnknown(mistyped);
    if (mistyped !== null) {
      action.clear();
      return;
    }
    sending.current = typed;
    const sent = await action.run(async () => {
      const answer = await client.say(session, typed, commands);
      setText((now) => (now === typed ? "" : now)); // a compaction takes a while, and what is typed meanwhile stays
      announce(answer.command ? answer.command.text : t.composer.added);
      onAppended(answer);
    });
    sending.current = null;
    const waiting = next.current;
    next.current = null;
    if (sent && waiting !== null) await send(waiting);
  };
  const addAsMessage = (
    <button
      type="button"
      disabled={action.busy}
      onClick={() => {
        field.current?.focus(); // the button goes
        void send(text, false);
      }}
    >
      {t.composer.addAsMessage}
    </button>
  );
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(text);
      }}
    >
      {unknown !== null && (
        <div class="problem" role="alert">
          <p>
            <strong>{t.composer.noCommand(unknown)}</strong> {commandList()}
          </p>
          {addAsMessage}
        </div>
      )}
      {action.error && <Problem error={action.error}>{action.error.code === "bad-command" && addAsMessage}</Problem>}
      <div class="composer-row">
        <label class="grow">
          <span class="visually-hidden">{t.composer.label}</span>
          <textarea
            ref={field}
            rows={1}
            value={text}
            placeholder={t.composer.placeholder}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setUnknown(null);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              void send(text);
            }}
          />
        </label>
        <button type="submit" disabled={action.busy || text.trim() === ""}>
          {t.words.add}
        </button>
      </div>
    </form>
  );
}
