import type { VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { CompactOptions, View } from "../api/client";
import type { Appended, Session, SessionEvent } from "../api/types";
import { watch } from "../api/watch";
import { t } from "../lang";
import { type Compaction, after, started } from "../lib/compaction";
import { isCompaction, statusSentence, whyUnchanged } from "../lib/report";
import { hashOf } from "../lib/route";
import { titleOf } from "../lib/title";
import { asApiError, useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Heading } from "../ui/heading";
import { Problem } from "../ui/problem";
import { RecallProvider, useRecallDialog } from "../ui/recall";
import { TokenBar } from "../ui/token-bar";
import { type BubbleActions, LiveBubble } from "./bubble";
import { CompactDialog } from "./compact-dialog";
import { Composer } from "./composer";
import { rememberOptions } from "./preview-screen";
import { SearchBox } from "./search";
import { SessionDialog } from "./session-dialog";
import { type SummaryChoice, SummaryDrawer } from "./summary-drawer";
import { type Aim, Timeline } from "./timeline";
import { useHeadRoom } from "./use-head-room";
import { useMessages } from "./use-messages";
import { ViewSwitch } from "./view-switch";

/** Messages that are shown before one that somebody looks for. */
const BEFORE = 5;

/** Why no compaction can be asked for now; empty where one can. */
function whyNoCompaction(session: Session | null, isRunning: boolean): string {
  if (isRunning) return t.session.running;
  if (session?.problem !== undefined) return t.session.brokenSettings(session.problem);
  return session?.messages === 0 ? t.session.noMessages : "";
}

/** A session: how full it is, what was said, and its compactions as they happen. */
export function SessionScreen({ id }: { id: string }): VNode {
  const client = useClient();
  const announce = useAnnounce();
  // What a session that was read says of a compaction stands over what was heard of it: events may have been missed.
  const settle = useRef<(isRunning: boolean) => void>(() => undefined);
  const session = useLoad(
    useCallback(async () => {
      const session = await client.session(id);
      settle.current(session.running);
      return session;
    }, [client, id]),
  );
  const history = useLoad(useCallback(() => client.history(id), [client, id]));
  const [{ view, start }, setPlace] = useState<{ view: View; start: number | null }>({ view: "compacted", start: null });
  const messages = useMessages(client, id, view, start);
  const [aim, setAim] = useState<Aim | null>(null);
  const head = useHeadRoom();
  const [live, setLive] = useState<Compaction | null>(null);
  const [connected, setConnected] = useState(true);
  const [summary, setSummary] = useState<SummaryChoice | null>(null);
  const [dialog, setDialog] = useState<"compact" | "session" | null>(null);
  const undo = useAction();
  const recall = useRecallDialog(id);
  const lastOptions = useRef<CompactOptions>({});

  const reload = () => {
    session.reload();
    history.reload();
    messages.refresh();
  };

  const onEvent = (event: SessionEvent) => {
    setLive((current) => after(current, event));
    switch (event.event) {
      case "token_update":
        session.change((session) => ({ ...session, context: event.context }));
        return;
      case "compaction_start":
        announce(t.session.started);
        return;
      case "compaction_done":
        announce(
          event.success
            ? t.session.done(event.tokensBefore, event.tokensAfter, statusSentence(event.status))
            : t.session.nothing,
        );
        reload();
        return;
      case "compaction_error":
        announce(t.session.failed); // the bubble says why
        return;
      case "arrival_cut":
      case "results_cleared":
      case "undone":
        reload();
        return;
      case "compaction_step":
      case "summary_start":
      case "summary_done":
        return;
    }
  };

  // The watcher lives as long as the page; what it calls is always the newest.
  const handlers = useRef({ onEvent, reload, session });
  handlers.current = { onEvent, reload, session };
  useEffect(
    () =>
      watch(client, id, {
        event: (event) => handlers.current.onEvent(event),
        missed: () => handlers.current.reload(),
        connected: (yes) => {
          setConnected(yes);
          if (yes) handlers.current.session.reload();
        },
      }),
    [client, id],
  );

  const isOurs = useRef(false); // a compaction that this page waits for
  settle.current = (isRunning) =>
    setLive((current) => {
      if (isRunning) return current?.state === "running" ? current : started("", 0);
      return current?.state === "running" && !isOurs.current ? null : current;
    });

  // Where one has scrolled away from the end, what begins or fails there comes into sight.
  const bubble = useRef<HTMLDivElement>(null);
  const inSight = live?.state === "failed" ? `failed: ${live.message} ${live.help}` : live?.state;
  useEffect(() => {
    if (inSight !== undefined && inSight !== "done") bubble.current?.scrollIntoView({ block: "center" });
  }, [inSight]);

  const compact = async (options: CompactOptions) => {
    lastOptions.current = options;
    setDialog(null);
    setLive(started("manual", 0));
    isOurs.current = true;
    try {
      const { report, epoch } = await client.compact(id, options);
      setLive(isCompaction(report.status) && epoch !== null ? null : { state: "unchanged", why: whyUnchanged(report.status, report.stopped ?? null) });
      reload();
    } catch (error) {
      const { code, message, help, retryable } = asApiError(error);
      if (code === "compaction-running") {
        announce(t.session.runningAlready);
        session.reload();
        return;
      }
      setLive({ state: "failed", message, help, retryable });
      announce(t.session.failed);
    } finally {
      isOurs.current = false;
    }
  };

  const appended = ({ command }: Appended) => {
    if (command?.name === "history") location.hash = hashOf({ page: "compactions", id });
    else if (command?.recalled) recall.open(command.recalled.handle);
    else reload();
  };

  const actions: BubbleActions = {
    busy: undo.busy,
    undo: (epoch) =>
      void undo.run(async () => {
        await client.undo(id, epoch);
        announce(t.session.undone(epoch));
        reload();
      }),
    retry: () => void compact(lastOptions.current),
    dismiss: () => setLive(null),
    summary: (entry) => setSummary({ entry }),
  };

  /** Shows a message of the full history, or the compaction behind it. */
  const show = (number: number, epoch?: number) => {
    setAim({ number, ...(epoch !== undefined && { epoch }) });
    const start = Math.max(0, number - BEFORE);
    if (view !== "full") setPlace({ view: "full", start });
    else if (!messages.messages.some((stored) => stored.number === number)) messages.jump(start);
  };

  if (session.error && (!session.value || session.error.status === 404)) return <Problem error={session.error} />;
  const { value } = session;
  const first = history.value?.find(({ trigger }) => trigger !== "arrival" && trigger !== "clearing" && trigger !== "taken-back");
  const whyNot = whyNoCompaction(value, live?.state === "running");
  const title = value ? titleOf(value) : t.session.title;
  return (
    <RecallProvider value={recall.open}>
      <div ref={head} class="session-head">
        <div class="session-pinned">
          <div class="title-row">
            <Heading title={title} />
            <button type="button" class="quiet" onClick={() => setDialog("session")} disabled={!value}>
              {t.words.edit}
            </button>
          </div>
          {value && <TokenBar context={value.context} budget={value.budget} />}
        </div>
        {value && (
          <p class="meta">
            {value.agent != null && <span>{t.sessions.agent(value.agent)}</span>}
            <span>{t.counts.messages(value.messages)}</span>
            <span title={t.session.confidence(Math.round(value.task.confidence * 100))}>{t.session.task(t.tasks[value.task.kind])}</span>
            {!connected && <span class="warning">{t.session.disconnected}</span>}
          </p>
        )}
        <div class="toolbar">
          <ViewSwitch view={view} onChange={(view) => {
            setAim(null);
            setPlace({ view, start: null });
          }} />
          <span class="grow" />
          <a class="button" href={hashOf({ page: "context", id })}>
            {t.session.context}
          </a>
          <a class="button" href={hashOf({ page: "compactions", id })}>
            {t.session.compactions(history.value?.length ?? 0)}
          </a>
          {first && (
            <button type="button" onClick={() => show(Math.max(0, first.messages - 1), first.epoch)}>
              {t.session.first}
            </button>
          )}
          <button
            type="button"
            class="primary"
            disabled={!value || whyNot !== ""}
            title={whyNot === "" ? undefined : whyNot}
            onClick={() => setDialog("compact")}
          >
            {t.session.compact}
          </button>
        </div>
        {value?.problem !== undefined && <p class="notice">{whyNot}</p>}
        {value && whyNot === "" && history.value?.length === 0 && <p class="note wide-only">{t.session.noCompaction}</p>}
      </div>
      <SearchBox
        session={id}
        onShow={show}
      />
      {undo.error && <Problem error={undo.error} />}
      <Timeline
        session={id}
        messages={messages}
        epochs={history.value ?? []}
        actions={actions}
        onSummary={(message) => setSummary({ id: message })}
        aim={aim}
      />
      <div ref={bubble}>{live && <LiveBubble compaction={live} actions={actions} />}</div>
      <Composer session={id} onAppended={appended} />
      {dialog === "compact" && (
        <CompactDialog
          onClose={() => setDialog(null)}
          onCompact={(options) => void compact(options)}
          onPreview={(options) => {
            rememberOptions(id, options);
            location.hash = hashOf({ page: "preview", id });
          }}
        />
      )}
      {dialog === "session" && value && (
        <SessionDialog
          session={value}
          onClose={() => setDialog(null)}
          onSaved={(saved) => {
            session.set(saved);
            setDialog(null);
            reload();
          }}
          onDeleted={() => {
            location.hash = hashOf({ page: "sessions" });
          }}
        />
      )}
      {summary && <SummaryDrawer session={id} choice={summary} onClose={() => setSummary(null)} />}
      {recall.dialog}
    </RecallProvider>
  );
}
