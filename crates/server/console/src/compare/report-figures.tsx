import type { VNode } from "preact";

import type { Report } from "../api/types";
import { count, savedShare, share } from "../lib/format";

const STATUS: Record<Report["status"], string> = {
  "no-change": "The session fits: nothing would change.",
  compacted: "",
  hollow: "It fits, and nothing is left of what was asked for and worked on.",
  infeasible: "What must stay is larger than the limit.",
  "rolled-back": "No way was found that keeps enough of what the session holds: nothing would change.",
};

/** What a compaction comes to, in figures. */
export function ReportFigures({ report }: { report: Report }): VNode {
  const saved = savedShare(report.tokens_before, report.tokens_after);
  return (
    <>
      {STATUS[report.status] !== "" && <p class="notice">{STATUS[report.status]}</p>}
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
            <dd title="Exact strings, instructions and files that the view before named">
              {share(report.quality.share * 100)}
              {report.quality.below.length > 0 && " (below what is asked for)"}
            </dd>
          </div>
        )}
        {report.chain.length > 0 && (
          <div>
            <dt>Chain</dt>
            <dd>{report.chain.join(" → ")}</dd>
          </div>
        )}
      </dl>
    </>
  );
}
