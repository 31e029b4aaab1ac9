import type { VNode } from "preact";
import { useCallback } from "preact/hooks";

import { EpochTitle } from "../session/bubble";
import { plural, words } from "../lib/format";
import { hashOf } from "../lib/route";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

/** Every compaction of a session, the newest first. */
export function HistoryScreen({ id }: { id: string }): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const history = useLoad(useCallback(() => client.history(id), [client, id]));
  const undo = useAction();
  return (
    <>
      <p class="crumb">
        <a href={hashOf({ page: "session", id })}>← Session</a>
      </p>
      <Heading title="Compactions" />
      {history.error && <Problem error={history.error} />}
      {undo.error && <Problem error={undo.error} />}
      {history.value?.length === 0 && <p class="quiet-text">The session has not been compacted yet.</p>}
      {history.value && history.value.length > 0 && (
        <p class="quiet-text">Numbers count from 0, and are what /undo takes: /undo 0 undoes the first.</p>
      )}
      <ol class="cards" reversed>
        {history.value?.toReversed().map((entry) => (
          <li key={entry.epoch} class="card" data-undone={entry.undone || undefined}>
            <p>
              <EpochTitle entry={entry} />
            </p>
            <p class="meta">
              <span>trigger: {words(entry.trigger)}</span>
              <span>{entry.messages > 0 ? `behind message #${entry.messages - 1}` : "before any message"}</span>
              {Object.entries(entry.edits).map(([strategy, edits]) => (
                <span key={strategy}>
                  <code>{strategy}</code> {plural(edits, "edit")}
                </span>
              ))}
            </p>
            <div class="buttons">
              <a class="button" href={hashOf({ page: "epoch", id, epoch: entry.epoch })}>
                Before and after
              </a>
              {!entry.undone && (
                <button
                  type="button"
                  class="quiet"
                  disabled={undo.busy}
                  onClick={() =>
                    void undo.run(async () => {
                      await client.undo(id, entry.epoch);
                      announce(`Compaction ${entry.epoch} undone`);
                      history.reload();
                    })
                  }
                >
                  Undo
                </button>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}
