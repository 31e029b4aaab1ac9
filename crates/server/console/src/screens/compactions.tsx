import type { VNode } from "preact";
import { useCallback } from "preact/hooks";

import { t } from "../lang";
import { EpochTitle } from "../session/bubble";
import { hashOf } from "../lib/route";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

/** Every compaction of a session, the newest first. */
export function CompactionsScreen({ id }: { id: string }): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const history = useLoad(useCallback(() => client.history(id), [client, id]));
  const undo = useAction();
  return (
    <>
      <p class="crumb">
        <a href={hashOf({ page: "session", id })}>{t.session.back}</a>
      </p>
      <Heading title={t.compactions.title} />
      {history.error && <Problem error={history.error} />}
      {undo.error && <Problem error={undo.error} />}
      {history.value?.length === 0 && <p class="quiet-text">{t.compactions.empty}</p>}
      {history.value && history.value.length > 0 && (
        <p class="quiet-text">{t.compactions.numbers}</p>
      )}
      <ol class="cards" reversed>
        {history.value?.toReversed().map((entry) => (
          <li key={entry.epoch} class="card" data-undone={entry.undone || undefined}>
            <p>
              <EpochTitle entry={entry} />
            </p>
            <p class="meta">
              <span>{t.compactions.trigger(t.compactions.triggers[entry.trigger])}</span>
              <span>{t.compactions.behind(entry.messages - 1)}</span>
              {Object.entries(entry.edits).map(([strategy, edits]) => (
                <span key={strategy}>
                  <code>{strategy}</code> {t.counts.edits(edits)}
                </span>
              ))}
            </p>
            <div class="buttons">
              <a class="button" href={hashOf({ page: "epoch", id, epoch: entry.epoch })}>
                {t.bubble.beforeAndAfter}
              </a>
              {!entry.undone && (
                <button
                  type="button"
                  class="quiet"
                  disabled={undo.busy || entry.covered_by !== null}
                  title={entry.covered_by === null ? undefined : t.compactions.covered(entry.covered_by)}
                  onClick={() =>
                    void undo.run(async () => {
                      await client.undo(id, entry.epoch);
                      announce(t.session.undone(entry.epoch));
                      history.reload();
                    })
                  }
                >
                  {t.words.undo}
                </button>
              )}
            </div>
            {!entry.undone && entry.covered_by !== null && <p class="note">{t.compactions.covered(entry.covered_by)}</p>}
          </li>
        ))}
      </ol>
    </>
  );
}
