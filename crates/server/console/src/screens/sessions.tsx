import type { VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { SessionInfo } from "../api/types";
import { t } from "../lang";
import { ago, time } from "../lib/format";
import { newTitle, titleOf } from "../lib/title";
import { hashOf } from "../lib/route";
import { DeleteDialog } from "../session/delete-dialog";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad, useSettled } from "../ui/hooks";
import { type Opening, useOpening } from "../ui/opening";
import { Problem } from "../ui/problem";

/** The sessions of the tenant, and the ways to get another. */
export function SessionsScreen(): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const [title, setTitle] = useState("");
  const [agent, setAgent] = useState("");
  const filter = useSettled(`${title}\n${agent}`, 200);
  const loaded = useLoad(
    useCallback(() => {
      const [title = "", agent = ""] = filter.split("\n");
      return client.sessions({ title, agent });
    }, [client, filter]),
  );
  const agents = useLoad(useCallback(() => client.agents(), [client]));
  const service = useLoad(useCallback(() => client.ready(), [client]));
  const more = useAction();
  const [leaving, setLeaving] = useState<SessionInfo | null>(null);
  const creating = useAction();
  const opening = useOpening();

  const loadMore = () =>
    more.run(async () => {
      const page = loaded.value;
      if (!page) return;
      const next = await client.sessions({ title, agent, after: page.next });
      loaded.set({ items: [...page.items, ...next.items], next: next.next });
    });
  const create = () =>
    creating.run(async () => {
      const session = await client.create({ title: newTitle(Date.now()) });
      location.hash = hashOf({ page: "session", id: session.id });
    });
  const { opened } = opening;
  const { reload } = loaded;
  useEffect(() => {
    if (opened > 0) reload();
  }, [opened, reload]);

  const storesNothing = service.value?.sessions === "none";
  const isFiltered = title !== "" || agent !== "";
  return (
    <>
      <div class="title-row">
        <Heading title={t.sessions.title} />
        <span class="grow" />
        <button type="button" disabled={creating.busy || storesNothing} onClick={() => void create()}>
          {t.sessions.new}
        </button>
      </div>
      {creating.error && <Problem error={creating.error} />}
      {storesNothing ? <p class="notice">{t.sessions.noStore}</p> : <OpenRecorded opening={opening} />}
      <div class="search" role="search" aria-label={t.sessions.filter}>
        <label class="grow">
          <span>{t.sessions.byTitle}</span>
          <input type="search" value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <label>
          <span>{t.sessions.byAgent}</span>
          <input
            type="search"
            list="agents"
            value={agent}
            onInput={(event) => setAgent(event.currentTarget.value)}
          />
        </label>
        <datalist id="agents">
          {agents.value?.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      {loaded.error && !storesNothing && (
        <Problem error={loaded.error}>
          <button type="button" onClick={loaded.reload}>
            {t.words.tryAgain}
          </button>
        </Problem>
      )}
      {loaded.value?.items.length === 0 && (
        <p class="quiet-text">
          {isFiltered ? t.sessions.noneLikeThat : t.sessions.empty}
        </p>
      )}
      {service.value?.proxy && (
        <p class="quiet-text">
          {t.sessions.proxied} <a href={hashOf({ page: "proxy" })}>{t.sessions.proxiedPage}</a>
        </p>
      )}
      <ul class="cards" aria-busy={loaded.loading}>
        {loaded.value?.items.map((session) => (
          <SessionItem key={session.id} session={session} onDelete={() => setLeaving(session)} />
        ))}
      </ul>
      {more.error && <Problem error={more.error} />}
      {loaded.value?.next != null && (
        <button type="button" class="quiet" disabled={more.busy} onClick={() => void loadMore()}>
          {t.words.showMore}
        </button>
      )}
      {leaving && (
        <DeleteDialog
          session={leaving}
          onClose={() => setLeaving(null)}
          onDeleted={() => {
            setLeaving(null);
            announce(t.sessions.deleted);
            reload();
          }}
        />
      )}
    </>
  );
}

function SessionItem({ session, onDelete }: { session: SessionInfo; onDelete: () => void }): VNode {
  const title = titleOf(session);
  return (
    <li class="card">
      <a class="card-title" dir="auto" href={hashOf({ page: "session", id: session.id })}>
        {title}
      </a>
      <p class="meta">
        {session.agent != null && <span>{t.sessions.agent(session.agent)}</span>}
        <span>{t.counts.messages(session.messages)}</span>
        {session.epochs > 0 && <span>{t.counts.compactions(session.epochs)}</span>}
        <time title={time(session.updated_at)}>{ago(session.updated_at, Date.now())}</time>
        <span class="grow" />
        <button type="button" class="link" aria-label={t.sessions.deleteOne(title)} onClick={onDelete}>
          {t.words.delete}
        </button>
      </p>
    </li>
  );
}

/** Opens recorded sessions by a button; the whole page takes them dropped. */
function OpenRecorded({ opening }: { opening: Opening }): VNode {
  const input = useRef<HTMLInputElement>(null);
  const { action, open } = opening;
  return (
    <section class="drop" aria-label={t.opening.area}>
      {action.error && <Problem error={action.error} />}
      <p>
        <button type="button" class="primary" disabled={action.busy} onClick={() => input.current?.click()}>
          {action.busy ? t.opening.busy : t.opening.open}
        </button>{" "}
        {t.opening.how}
      </p>
      <input
        ref={input}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label={t.opening.file}
        onChange={(event) => {
          const { currentTarget } = event;
          open([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </section>
  );
}
