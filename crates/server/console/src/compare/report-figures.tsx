import type { VNode } from "preact";

import type { Report } from "../api/types";
import { t } from "../lang";
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
          <dt>{t.report.tokens}</dt>
          <dd>
            {count(report.tokens_before)} → {count(report.tokens_after)}
            {saved !== null && ` (−${share(saved)})`}
          </dd>
        </div>
        <div>
          <dt>{t.report.messages}</dt>
          <dd>
            {count(report.messages_before)} → {count(report.messages_after)}
          </dd>
        </div>
        {report.quality && (
          <div>
            <dt>{t.report.kept}</dt>
            <dd title={t.report.keptWhat}>
              {share(report.quality.share * 100)}
              {parts !== "" && `: ${parts}`}
              {below !== "" && ` (${below})`}
            </dd>
          </div>
        )}
        {report.chain.length > 0 && (
          <div>
            <dt>{t.report.chain}</dt>
            <dd>{report.chain.join(" → ")}</dd>
          </div>
        )}
        {report.stopped !== undefined && (
          <div>
            <dt>{t.report.stopped}</dt>
            <dd>{report.stopped}</dd>
          </div>
        )}
        <div>
          <dt>{t.report.time}</dt>
          <dd>{t.report.milliseconds(milliseconds(report.timings))}</dd>
        </div>
      </dl>
    </>
  );
}
