import type { VNode } from "preact";
import { useCallback } from "preact/hooks";

import { Compare } from "../compare/compare";
import { t } from "../lang";
import { EpochTitle } from "../session/bubble";
import { hashOf } from "../lib/route";
import { Heading } from "../ui/heading";
import { useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { RecallProvider, useRecallDialog } from "../ui/recall";

/** A compaction: both views side by side with every receipt. */
export function EpochScreen({ id, epoch }: { id: string; epoch: number }): VNode {
  const client = useClient();
  const sides = useLoad(useCallback(() => client.epoch(id, epoch), [client, id, epoch]));
  const recall = useRecallDialog(id);
  return (
    <RecallProvider value={recall.open}>
      <p class="crumb">
        <a href={hashOf({ page: "session", id })}>{t.session.back}</a> <a href={hashOf({ page: "compactions", id })}>{t.compactions.title}</a>
      </p>
      <Heading title={t.epoch.title(epoch)} />
      {sides.error && <Problem error={sides.error} />}
      {sides.loading && <p class="quiet-text">{t.epoch.fetching}</p>}
      {sides.value && (
        <>
          <p>
            <EpochTitle entry={sides.value.entry} />
          </p>
          <Compare before={sides.value.before} after={sides.value.after} edits={sides.value.edits} />
        </>
      )}
      {recall.dialog}
    </RecallProvider>
  );
}
