import type { VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { SessionInfo } from "../api/types";
import { ago, newTitle, plural, time, titleOf } from "../lib/format";
import { hashOf } from "../lib/route";
import { DeleteDialog } from "../session/delete-dialog";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad, useSettled } from "../ui/hooks";
import { type Opening, useOpening } from "../ui/opening";
import { Problem } from "../ui/problem";

/** What the page says without a session. */
const EMPTY =
  "There are no sessions yet. This page lists those that the service stores: recorded ones that were opened, those that " +
  "were begun here, and those that an agent keeps in the service.";

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

  const isFiltered = title !== "" || agent !== "";
  return (
    <>
      <div class="title-row">
        <Heading title="Sessions" />
        <span class="grow" />
        <button type="button" disabled={creating.busy} onClick={() => void create()}>
          New session
        </button>
      </div>
      {creating.error && <Problem error={creating.error} />}
      <OpenRecorded opening={opening} />
      <div class="search" role="search" aria-label="Filter the sessions">
        <label class="grow">
          <span>Filter by title</span>
          <input type="search" value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        </label>
        <label>
          <span>Filter by agent</span>
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
      {loaded.error && (
        <Problem error={loaded.error}>
          <button type="button" onClick={loaded.reload}>
            Try again
          </button>
        </Problem>
      )}
      {loaded.value?.items.length === 0 && (
        <p class="quiet-text">
          {isFiltered ? "No session is like that." : EMPTY}
        </p>
      )}
      {service.value?.proxy && (
        <p class="quiet-text">
          Conversations that go through the proxy are not listed: the service does not keep them as sessions.
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
          Show more
        </button>
      )}
      {leaving && (
        <DeleteDialog
          session={leaving}
          onClose={() => setLeaving(null)}
          onDeleted={() => {
            setLeaving(null);
            announce("Session deleted");
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
        {session.agent != null && <span>agent {session.agent}</span>}
        <span>{plural(session.messages, "message")}</span>
        {session.epochs > 0 && <span>{plural(session.epochs, "compaction")}</span>}
        <time title={time(session.updated_at)}>{ago(session.updated_at, Date.now())}</time>
        <span class="grow" />
        <button type="button" class="link" aria-label={`Delete ${title}`} onClick={onDelete}>
          Delete…
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
    <section class="drop" aria-label="Open a recorded session">
      {action.error && <Problem error={action.error} />}
      <p>
        <button type="button" class="primary" disabled={action.busy} onClick={() => input.current?.click()}>
          {action.busy ? "Opening…" : "Open a recorded session"}
        </button>{" "}
        or drop its file on the page: Claude Code, Codex, OpenAI, Anthropic and other agents' formats, recognised by
        content.
      </p>
      <input
        ref={input}
        type="file"
        multiple
        class="visually-hidden"
        tabIndex={-1}
        aria-label="A recorded session's file"
        onChange={(event) => {
          const { currentTarget } = event;
          open([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </section>
  );
}
