import type { VNode } from "preact";
import { useCallback, useId, useState } from "preact/hooks";

import type { Agent, AgentSettings, Channel } from "../api/types";
import { t } from "../lang";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

/** The settings of agents: when their sessions are compacted, what stays, and who writes the summaries. */
export function AgentsScreen(): VNode {
  const client = useClient();
  const agents = useLoad(useCallback(() => client.agents(), [client]));
  const channels = useLoad(useCallback(() => client.channels(true), [client]));
  const [name, setName] = useState("");
  const add = useAction();
  const service = useLoad(useCallback(() => client.ready(), [client]));
  const storesNothing = service.value?.sessions === "none";
  const exists = agents.value?.some((agent) => agent.name === name.trim()) ?? false; // adding it would empty its settings
  return (
    <>
      <Heading title={t.agents.title} />
      {agents.error && <Problem error={agents.error} />}
      {agents.value?.length === 0 && (
        <p class="quiet-text">{t.agents.empty}</p>
      )}
      {agents.value?.map((agent) => (
        <AgentCard key={agent.name} agent={agent} channels={channels.value} onChanged={agents.reload} />
      ))}
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          void add.run(async () => {
            await client.saveAgent(name.trim(), {});
            setName("");
            agents.reload();
          });
        }}
      >
        <label class="grow">
          <span>{t.agents.new}</span>
          <input type="text" value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={name.trim() === "" || exists || storesNothing || add.busy}>
          {t.agents.add}
        </button>
      </form>
      {storesNothing && <p class="notice">{t.agents.noStore}</p>}
      {exists && <p class="field-problem" role="alert">{t.agents.exists}</p>}
      {add.error && <Problem error={add.error} />}
    </>
  );
}

/** The most of the newest messages that are offered to stay. */
const KEEP_MOST = 20;

interface CardProperties {
  agent: Agent;
  /** Those for compaction; null before they are known. */
  channels: Channel[] | null;
  onChanged: () => void;
}

function AgentCard({ agent, channels: known, onChanged }: CardProperties): VNode {
  const channels = known ?? [];
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [settings, setSettings] = useState<AgentSettings>(agent.settings);
  const isFixed = agent.source === "configuration";
  const effective = agent.effective ?? {};
  const threshold = settings.threshold_percent ?? effective.threshold_percent ?? 70;
  const keepRecent = settings.keep_recent ?? effective.keep_recent ?? 0;
  // A larger number that the configuration or a client has set may stay.
  const keepMost = Math.max(KEEP_MOST, agent.settings.keep_recent ?? effective.keep_recent ?? 0);
  const channel = settings.channel ?? "";
  const lacksModel = known?.length === 0 && settings.summarizer !== "llm";
  const models = channels.find(({ name }) => name === channel)?.models ?? channels.flatMap(({ models }) => models);
  const list = useId();
  const change = (changes: AgentSettings) => setSettings((settings) => ({ ...settings, ...changes }));
  const save = () =>
    action.run(async () => {
      const given = Object.entries(settings).filter(([, value]) => value !== null && value !== "");
      await client.saveAgent(agent.name, Object.fromEntries(given));
      announce(t.agents.saved(agent.name));
      onChanged();
    });
  const remove = () =>
    action.run(async () => {
      await client.removeAgent(agent.name);
      announce(t.agents.removed(agent.name));
      onChanged();
    });
  return (
    <form
      class="card form"
      aria-label={t.agents.settingsOf(agent.name)}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>
        {agent.name} {isFixed && <span class="badge">{t.agents.fixed}</span>}
      </h2>
      {agent.problem !== undefined && <p class="notice">{t.agents.problem(agent.problem)}</p>}
      {action.error && <Problem error={action.error} />}
      <fieldset disabled={isFixed || action.busy} class="fields">
        <label>
          <span>
            {t.agents.threshold} <output>{threshold === 0 ? t.words.off : `${threshold}%`}</output>
          </span>
          <input
            type="range"
            min={0}
            max={100}
            step={5}
            value={threshold}
            aria-valuetext={threshold === 0 ? t.words.off : t.agents.ofWindow(threshold)}
            onInput={(event) => change({ threshold_percent: event.currentTarget.valueAsNumber })}
          />
        </label>
        <label>
          <span>{t.agents.keep}</span>
          <input
            type="number"
            min={0}
            max={keepMost}
            required
            ref={(field) => field?.setCustomValidity(keepRecent === 1 ? t.agents.keepsOne : "" /* one message alone is an answer without its question */)}
            value={keepRecent}
            onInput={(event) => {
              const value = event.currentTarget.valueAsNumber;
              if (Number.isInteger(value)) change({ keep_recent: value });
            }}
          />
        </label>
        <label>
          <span>{t.agents.writtenBy}</span>
          <select
            value={settings.summarizer ?? ""}
            onChange={(event) => change({ summarizer: (event.currentTarget.value || null) as NonNullable<AgentSettings["summarizer"]> | null })}
          >
            <option value="">{effective.summarizer ? t.agents.defaultIs(t.agents.writers[effective.summarizer]) : t.words.default}</option>
            {Object.entries(t.agents.writers).map(([value, name]) => (
              <option key={value} value={value} disabled={value === "llm" && lacksModel}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {lacksModel && <p class="note">{t.agents.noChannel}</p>}
        <label>
          <span>{t.agents.channel}</span>
          <select value={channel} onChange={(event) => change({ channel: event.currentTarget.value })}>
            <option value="">{effective.channel ? t.agents.defaultIs(effective.channel) : t.words.default}</option>
            {channels.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            {channel !== "" && !channels.some(({ name }) => name === channel) && <option>{channel}</option>}
          </select>
        </label>
        <label>
          <span>{t.agents.model}</span>
          <input
            type="text"
            list={list}
            value={settings.model ?? ""}
            placeholder={effective.model ?? t.words.default}
            onInput={(event) => change({ model: event.currentTarget.value })}
          />
        </label>
        <datalist id={list}>
          {models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
      </fieldset>
      {!isFixed && (
        <div class="buttons end">
          <button type="button" class="danger" disabled={action.busy} onClick={() => void remove()}>
            {t.words.remove}
          </button>
          <span class="grow" />
          <button type="submit" class="primary" disabled={action.busy}>
            {t.words.save}
          </button>
        </div>
      )}
    </form>
  );
}
