import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import type { CompactOptions } from "../api/client";
import type { SessionPreview } from "../api/types";
import { Compare } from "../compare/compare";
import { ReportFigures } from "../compare/report-figures";
import { t } from "../lang";
import { isCompaction, tokensOverTarget } from "../lib/report";
import { hashOf } from "../lib/route";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { RecallProvider, useRecallDialog } from "../ui/recall";

/** What the dialog asked for. It is kept in memory: a focus is what somebody typed and does not belong into an address. */
const asked = new Map<string, CompactOptions>();

export function rememberOptions(session: string, options: CompactOptions): void {
  asked.set(session, options);
}

/** A compaction before it is made: both views, every edit, and the summaries to be edited. */
export function PreviewScreen({ id }: { id: string }): VNode {
  const client = useClient();
  const preview = useLoad(useCallback(() => client.preview(id, asked.get(id) ?? {}), [client, id]));
  const recall = useRecallDialog(id);
  const back = hashOf({ page: "session", id });
  return (
    <RecallProvider value={recall.open}>
      <p class="crumb">
        <a href={back}>{t.session.back}</a>
      </p>
      <Heading title={t.preview.title} />
      {preview.loading && <p class="quiet-text">{t.preview.working}</p>}
      {preview.error && (
        <Problem error={preview.error}>
          <button type="button" onClick={preview.reload}>
            {t.words.tryAgain}
          </button>
        </Problem>
      )}
      {preview.value && !preview.loading && <Draft key={preview.value.draft} id={id} preview={preview.value} again={preview.reload} />}
      {recall.dialog}
    </RecallProvider>
  );
}

function Draft({ id, preview, again }: { id: string; preview: SessionPreview; again: () => void }): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [texts, setTexts] = useState(() => new Map(preview.summaries.map(({ number, text }) => [number, text])));
  const { report } = preview;
  const focus = asked.get(id)?.focus;
  const above = tokensOverTarget(report);
  const changed = preview.summaries.filter(({ number, text }) => texts.get(number) !== text);
  const apply = () =>
    action.run(async () => {
      const summaries = changed.map(({ number }) => ({ number, text: texts.get(number) ?? "" }));
      await client.apply(id, preview.draft, summaries);
      announce(t.preview.made);
      location.hash = hashOf({ page: "session", id });
    });
  const isStale = action.error?.code === "stale-draft" || action.error?.code === "unknown-draft";
  return (
    <>
      {focus !== undefined && <p class="quiet-text">{t.preview.focus(focus)}</p>}
      {above > 0 && (
        <p class="notice">
          {t.preview.overTarget(report.tokens_after, above, report.target)}
        </p>
      )}
      <ReportFigures report={report} />
      {preview.summaries.length > 0 && (
        <details class="summary-editors">
          <summary>{t.preview.change(preview.summaries.length)}</summary>
          {preview.summaries.map(({ number, heading, most_tokens: most }) => (
            <label class="summary-editor" key={number}>
              <span>{t.preview.editor(heading, most)}</span>
              <textarea
                rows={12}
                value={texts.get(number)}
                onInput={(event) => setTexts(new Map(texts).set(number, event.currentTarget.value))}
              />
            </label>
          ))}
        </details>
      )}
      {action.error && (
        <Problem error={action.error}>
          {isStale && (
            <button type="button" onClick={again}>
              {t.preview.again}
            </button>
          )}
        </Problem>
      )}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={action.busy || !isCompaction(report.status)}
          title={isCompaction(report.status) ? undefined : t.preview.nothingToApply}
          onClick={() => void apply()}
        >
          {t.preview.apply(changed.length, above)}
        </button>
        <a class="button" href={hashOf({ page: "session", id })}>
          {t.preview.discard}
        </a>
      </div>
      {preview.before && preview.after && (
        <Compare before={preview.before} after={preview.after} edits={report.edits} receipts={report.messages} />
      )}
    </>
  );
}
