import type { VNode } from "preact";
import { useCallback, useEffect } from "preact/hooks";

import type { ProxiedConversation } from "../api/types";
import { t } from "../lang";
import { ago, count, money, savedShare, share, time } from "../lib/format";
import { type Sums, cachedShare, sumsOf } from "../lib/proxied";
import { Heading } from "../ui/heading";
import { useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

/** How often the list is read again while it is in sight, in milliseconds. */
const EVERY = 2000;

/** The conversations that go through the proxy, with what they cost and save. */
export function ProxyScreen(): VNode {
  const client = useClient();
  const service = useLoad(useCallback(() => client.ready(), [client]));
  const loaded = useLoad(useCallback(() => client.proxied(), [client]));
  const { reload } = loaded;
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, EVERY);
    return () => clearInterval(timer);
  }, [reload]);
  const isOff = service.value?.proxy === false;
  const { value, error } = loaded;
  return (
    <>
      <Heading title={t.proxy.title} />
      {isOff ? <p class="notice">{t.proxy.off}</p> : <p class="quiet-text">{t.proxy.what}</p>}
      {error && (value ? <p class="notice" role="status">{t.proxy.paused}</p> : <Problem error={error} />)}
      {!isOff && value?.items.length === 0 && <p class="quiet-text">{t.proxy.empty}</p>}
      {value && value.items.length > 0 && (
        <>
          {value.items.length > 1 && <Summed sums={sumsOf(value.items)} />}
          <ul class="cards">
            {value.items.map((conversation, position) => (
              <Conversation key={position} conversation={conversation} />
            ))}
          </ul>
          {value.total > value.items.length && <p class="note">{t.proxy.more(value.total - value.items.length)}</p>}
        </>
      )}
    </>
  );
}

function Summed({ sums }: { sums: Sums }): VNode {
  return (
    <section class="card" aria-label={t.proxy.sums}>
      <p class="card-title">{t.proxy.sums}</p>
      <dl class="account">
        <Saved sums={sums} />
        <Reported sums={sums} />
      </dl>
    </section>
  );
}

function Conversation({ conversation }: { conversation: ProxiedConversation }): VNode {
  const { title, model, interface: spoken, requests, compactions, lookups, lookups_found: found, last } = conversation;
  const { tokens_before: before, tokens_after: after, tokens_usable: usable } = conversation;
  const sums = sumsOf([conversation]);
  const less = savedShare(before, after);
  return (
    <li class="card">
      <p class="card-title" dir="auto">
        {title === "" ? t.proxy.untitled : title}
      </p>
      <p class="meta">
        <span>{model ?? spoken}</span>
        <span>{t.counts.requests(requests)}</span>
        {compactions > 0 && <span>{t.counts.compactions(compactions)}</span>}
        <time title={time(last)}>{ago(last, Date.now())}</time>
      </p>
      <dl class="account">
        <Figure
          name={t.proxy.context}
          text={t.proxy.contextNow(after, usable)}
          note={before > after && less !== null ? `${t.proxy.came(before)} (−${share(less)})` : ""}
        />
        <Saved sums={sums} />
        {lookups > 0 && <Figure name={t.proxy.lookups} text={count(lookups)} note={t.proxy.lookupsFound(found)} />}
        <Reported sums={sums} />
      </dl>
    </li>
  );
}

/** What was not sent, less what summaries took. */
function Saved({ sums: { saved, summaries } }: { sums: Sums }): VNode {
  return (
    <Figure
      name={t.proxy.saved}
      text={t.counts.tokens(saved)}
      note={summaries > 0 ? t.proxy.lessSummaries(summaries) : ""}
    />
  );
}

/** What the provider reported, and its price. */
function Reported({ sums }: { sums: Sums }): VNode {
  if (sums.answers === 0) return <Figure name={t.proxy.input} text={t.proxy.notReported} />;
  const { input, cached, output, price, unpriced } = sums;
  return (
    <>
      <Figure name={t.proxy.input} text={count(input)} />
      <Figure name={t.proxy.cache} text={count(cached)} note={share(cachedShare(sums))} />
      <Figure name={t.proxy.output} text={count(output)} />
      <Figure
        name={t.proxy.price}
        text={price === null ? t.proxy.unknown : money(price)}
        note={price !== null && unpriced > 0 ? t.proxy.unpriced(unpriced) : ""}
      />
    </>
  );
}

function Figure({ name, text, note = "" }: { name: string; text: string; note?: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {text} {note !== "" && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}
