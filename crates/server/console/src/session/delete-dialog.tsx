import type { VNode } from "preact";

import type { SessionInfo } from "../api/types";
import { t } from "../lang";
import { titleOf } from "../lib/title";
import { Dialog } from "../ui/dialog";
import { useAction, useClient } from "../ui/hooks";
import { Problem } from "../ui/problem";

interface Properties {
  session: SessionInfo;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks whether a session is to be deleted, and deletes it. */
export function DeleteDialog({ session, onDeleted, onClose }: Properties): VNode {
  const client = useClient();
  const action = useAction();
  const remove = () =>
    action.run(async () => {
      await client.remove(session.id);
      onDeleted();
    });
  return (
    <Dialog title={t.sessions.deleteAsk} onClose={onClose}>
      <p class="wrap" dir="auto">
        {titleOf(session)}
      </p>
      <p class="quiet-text">
        {t.sessions.deleteWhat(session.messages)}
      </p>
      {action.error && <Problem error={action.error} />}
      <div class="buttons end">
        <button type="button" autofocus onClick={onClose}>
          {t.sessions.keep}
        </button>
        <button type="button" class="danger" disabled={action.busy} onClick={() => void remove()}>
          {t.words.deleteForGood}
        </button>
      </div>
    </Dialog>
  );
}
