import type { VNode } from "preact";
import { useId } from "preact/hooks";

import type { ContextTokens, Session } from "../api/types";
import { t } from "../lang";
import { atSoftThreshold, barOf } from "../lib/bar";
import { count, share } from "../lib/format";

interface Properties {
  context: ContextTokens;
  budget?: Session["budget"];
}

/** How full the context is: a bar with the threshold's mark, and the figures on demand. */
export function TokenBar({ context: told, budget }: Properties): VNode {
  const context = atSoftThreshold(told, budget);
  const bar = barOf(context);
  const tip = useId();
  return (
    <div class="token-bar" data-state={bar.state}>
      <div
        class="meter"
        role="meter"
        tabIndex={0}
        aria-label={t.bar.context}
        aria-valuemin={0}
        aria-valuemax={Math.max(context.maxTokens, context.usedTokens)}
        aria-valuenow={context.usedTokens}
        aria-valuetext={`${bar.label}, ${bar.meaning}`}
        aria-describedby={tip}
      >
        <div class="filled" style={{ inlineSize: `${bar.filled}%` }} />
        {bar.threshold !== null && <div class="threshold" style={{ insetInlineStart: `${bar.threshold}%` }} />}
      </div>
      <div class="figures">
        <span class="tokens">{bar.label}</span> <span class="meaning">{bar.meaning}</span>
      </div>
      <div class="tip" id={tip} role="tooltip">
        <dl>
        <Figure name={t.bar.messages} tokens={context.usedTokens} note={context.estimated ? t.words.estimated : t.words.counted} />
        <Figure name={t.bar.most} tokens={context.maxTokens} note={share(context.percent)} />
        {context.thresholdPercent > 0 && (
          <Figure
            name={t.bar.thresholdName}
            tokens={(context.maxTokens * context.thresholdPercent) / 100}
            note={share(context.thresholdPercent)}
          />
        )}
        {budget && (
          <>
            <Figure name={t.bar.target} tokens={budget.target} />
            {budget.hard !== null && <Figure name={t.bar.hard} tokens={budget.hard} />}
            <Figure name={t.bar.windowName} tokens={budget.window} />
          </>
        )}
        </dl>
      </div>
    </div>
  );
}

function Figure({ name, tokens, note }: { name: string; tokens: number; note?: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {count(tokens)} {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}
