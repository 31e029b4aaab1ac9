import type { VNode } from "preact";

import type { Report } from "../api/types";
import { count, savedShare, share } from "../lib/format";
import { keptParts, milliseconds, shortfalls, statusSentence } from "../lib/report";

/** What a compaction comes to, in figures. */
export function ReportFigures({ report }: { report: Report }): VNode {
  const saved = savedShare(report.tokens_before, report.tokens_after);
  const sentence = statusSentence(report.status);
  const parts = report.quality ? keptParts(report.quality) : "";
  const below = report.quality ? shortfalls(report.quality) : "";
  return (
    <>
      {sentence !== "" && <p class="notice">{sentence}</p>}
      <dl class="figures-list">
        <div>
          <dt>Tokens</dt>
          <dd>
            {count(report.tokens_before)} → {count(report.tokens_after)}
            {saved !== null && ` (−${share(saved)})`}
          </dd>
        </div>
        <div>
          <dt>Messages</dt>
          <dd>
            {count(report.messages_before)} → {count(report.messages_after)}
          </dd>
        </div>
        {report.quality && (
          <div>
            <dt>Kept of what matters</dt>
            <dd title="Of the whole session, so that what earlier compactions lost is missing here too">
              {share(report.quality.share * 100)}
              {parts !== "" && `: ${parts}`}
              {below !== "" && ` (${below})`}
            </dd>
          </div>
        )}
        {report.chain.length > 0 && (
          <div>
            <dt>Chain</dt>
            <dd>{report.chain.join(" → ")}</dd>
          </div>
        )}
        {report.stopped !== undefined && (
          <div>
            <dt>Why no further</dt>
            <dd>{report.stopped}</dd>
          </div>
        )}
        <div>
          <dt>Worked out in</dt>
          <dd>{count(milliseconds(report.timings))} ms</dd>
        </div>
      </dl>
    </>
  );
}
