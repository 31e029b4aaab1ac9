import type { VNode } from "preact";
import { useState } from "preact/hooks";

import type { Appended } from "../api/types";
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
  const send = async () => {
    if (text.trim() === "") return;
    await action.run(async () => {
      const answer = await client.say(session, text);
      setText("");
      announce(answer.command ? answer.command.text : "Message added");
      onAppended(answer);
    });
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {action.error && <Problem error={action.error} />}
      <div class="composer-row">
        <label class="grow">
          <span class="visually-hidden">A user message, or a command such as /compact parser</span>
          <textarea
            rows={1}
            value={text}
            placeholder="Add a user message, or a command: /compact parser"
            onInput={(event) => setText(event.currentTarget.value)}
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
