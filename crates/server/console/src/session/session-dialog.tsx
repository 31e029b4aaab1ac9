import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import type { Session } from "../api/types";
import { t } from "../lang";
import { Dialog } from "../ui/dialog";
import { useAction, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

interface Properties {
  session: Session;
  onSaved: (session: Session) => void;
  onDeleted: () => void;
  onClose: () => void;
}

/** A session's title and agent, and its end. */
export function SessionDialog({ session, onSaved, onDeleted, onClose }: Properties): VNode {
  const client = useClient();
  const action = useAction();
  const agents = useLoad(useCallback(() => client.agents(), [client]));
  const [title, setTitle] = useState(session.title ?? "");
  const [agent, setAgent] = useState(session.agent ?? "");
  const [asked, setAsked] = useState(false);
  const names = new Set(agents.value?.map((agent) => agent.name));
  if (agent !== "") names.add(agent);
  const save = () =>
    action.run(async () => {
      const changes = { title: title.trim() === "" ? null : title.trim(), agent: agent === "" ? null : agent };
      onSaved(await client.update(session.id, changes));
    });
  const remove = () =>
    action.run(async () => {
      await client.remove(session.id);
      onDeleted();
    });
  return (
    <Dialog title={t.session.this} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {action.error && <Problem error={action.error} />}
        <label>
          <span>{t.session.titleField}</span>
          <input type="text" autofocus value={title} maxLength={200} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <label>
          <span>{t.session.agentField}</span>
          <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
            <option value="">{t.words.none}</option>
            {[...names].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="quiet-text">
          {t.session.id} <code class="wrap">{session.id}</code>
        </p>
        <div class="buttons end">
          <button
            type="button"
            class="danger"
            disabled={action.busy}
            onClick={() => (asked ? void remove() : setAsked(true))}
          >
            {asked ? t.words.deleteForGood : t.words.delete}
          </button>
          <span class="grow" />
          <button type="submit" class="primary" disabled={action.busy}>
            {t.words.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
