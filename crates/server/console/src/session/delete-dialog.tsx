import type { VNode } from "preact";

import type { SessionInfo } from "../api/types";
import { plural, titleOf } from "../lib/format";
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
    <Dialog title="Delete this session?" onClose={onClose}>
      <p class="wrap" dir="auto">
        {titleOf(session)}
      </p>
      <p class="quiet-text">
        Its {plural(session.messages, "message")} and what its compactions left out are gone with it.
      </p>
      {action.error && <Problem error={action.error} />}
      <div class="buttons end">
        <button type="button" autofocus onClick={onClose}>
          Keep it
        </button>
        <button type="button" class="danger" disabled={action.busy} onClick={() => void remove()}>
          Delete it for good
        </button>
      </div>
    </Dialog>
  );
}
