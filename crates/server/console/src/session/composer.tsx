import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";

import type { Appended } from "../api/types";
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
  const send = async (commands = true) => {
    if (text.trim() === "") return;
    // A message is in the session for good, and a mistyped command would be one.
    const mistyped = commands ? unknownCommand(text) : null;
    setUnknown(mistyped);
    if (mistyped !== null) {
      action.clear();
      return;
    }
    await action.run(async () => {
      const answer = await client.say(session, text, commands);
      setText("");
      announce(answer.command ? answer.command.text : "Message added");
      onAppended(answer);
    });
  };
  const addAsMessage = (
    <button
      type="button"
      disabled={action.busy}
      onClick={() => {
        field.current?.focus(); // the button goes
        void send(false);
      }}
    >
      Add it as a message
    </button>
  );
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {unknown !== null && (
        <div class="problem" role="alert">
          <p>
            <strong>There is no command {unknown}.</strong> {commandList()}
          </p>
          {addAsMessage}
        </div>
      )}
      {action.error && <Problem error={action.error}>{action.error.code === "bad-command" && addAsMessage}</Problem>}
      <div class="composer-row">
        <label class="grow">
          <span class="visually-hidden">A user message, or a command such as /compact parser</span>
          <textarea
            ref={field}
            rows={1}
            value={text}
            placeholder="Add a user message, or a command: /compact parser"
            onInput={(event) => {
              setText(event.currentTarget.value);
              setUnknown(null);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              void send();
            }}
          />
        </label>
        <button type="submit" disabled={action.busy || text.trim() === ""}>
          Add
        </button>
      </div>
    </form>
  );
}
