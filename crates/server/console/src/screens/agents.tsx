import type { VNode } from "preact";
import { useCallback, useId, useState } from "preact/hooks";

import type { Agent, AgentSettings, Channel } from "../api/types";
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
  return (
    <>
      <Heading title="Agents" />
      {agents.error && <Problem error={agents.error} />}
      {agents.value?.length === 0 && (
        <p class="quiet-text">No agent has settings of its own: all sessions go by the configuration.</p>
      )}
      {agents.value?.map((agent) => (
        <AgentCard key={agent.name} agent={agent} channels={channels.value ?? []} onChanged={agents.reload} />
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
          <span>New agent</span>
          <input type="text" value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={name.trim() === "" || add.busy}>
          Add agent
        </button>
      </form>
      {add.error && <Problem error={add.error} />}
    </>
  );
}

/** Who may write summaries, by the setting's values. */
const WRITERS: Record<string, string> = {
  rules: "rules, without a model",
  llm: "the auxiliary model",
  provider: "the model's provider, by its own compaction",
  off: "nobody",
};

/** The most of the newest messages that are offered to stay. */
const KEEP_MOST = 20;

/** What is said to 1: one message alone is an answer without its question. */
const KEEPS_ONE = "At least 2 messages, or 0 to leave it to the strategies.";

interface CardProperties {
  agent: Agent;
  channels: Channel[];
  onChanged: () => void;
}

function AgentCard({ agent, channels, onChanged }: CardProperties): VNode {
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
  const models = channels.find((known) => known.name === channel)?.models ?? channels.flatMap((known) => known.models);
  const list = useId();
  const change = (changes: AgentSettings) => setSettings({ ...settings, ...changes });
  const save = () =>
    action.run(async () => {
      const given = Object.entries(settings).filter(([, value]) => value !== null && value !== "");
      await client.saveAgent(agent.name, Object.fromEntries(given));
      announce(`Settings of ${agent.name} saved`);
      onChanged();
    });
  const remove = () =>
    action.run(async () => {
      await client.removeAgent(agent.name);
      announce(`${agent.name} removed`);
      onChanged();
    });
  return (
    <form
      class="card form"
      aria-label={`Settings of ${agent.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>
        {agent.name} {isFixed && <span class="badge">from the configuration: read-only</span>}
      </h2>
      {agent.problem !== undefined && <p class="notice">It cannot be used as the service runs now: {agent.problem}</p>}
      {action.error && <Problem error={action.error} />}
      <fieldset disabled={isFixed || action.busy} class="fields">
        <label>
          <span>
            Threshold: <output>{threshold === 0 ? "off" : `${threshold}%`}</output>
          </span>
          <input
            type="range"
            min={0}
            max={100}
            step={5}
            value={threshold}
            aria-valuetext={threshold === 0 ? "off" : `${threshold} percent of the window`}
            onInput={(event) => change({ threshold_percent: event.currentTarget.valueAsNumber })}
          />
        </label>
        <label>
          <span>Newest messages that stay (2–20; 0 leaves it to the strategies)</span>
          <input
            type="number"
            min={0}
            max={keepMost}
            required
            ref={(field) => field?.setCustomValidity(keepRecent === 1 ? KEEPS_ONE : "")}
            value={keepRecent}
            onInput={(event) => {
              const value = event.currentTarget.valueAsNumber;
              if (Number.isInteger(value)) change({ keep_recent: value });
            }}
          />
        </label>
        <label>
          <span>Summaries are written by</span>
          <select
            value={settings.summarizer ?? ""}
            onChange={(event) => change({ summarizer: (event.currentTarget.value || null) as NonNullable<AgentSettings["summarizer"]> | null })}
          >
            <option value="">{effective.summarizer ? `default (${WRITERS[effective.summarizer] ?? ""})` : "default"}</option>
            {Object.entries(WRITERS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>Auxiliary channel, for summaries</span>
          <select value={channel} onChange={(event) => change({ channel: event.currentTarget.value })}>
            <option value="">{effective.channel ? `default (${effective.channel})` : "default"}</option>
            {channels.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
            {channel !== "" && !channels.some(({ name }) => name === channel) && <option>{channel}</option>}
          </select>
        </label>
        <label>
          <span>Auxiliary model</span>
          <input
            type="text"
            list={list}
            value={settings.model ?? ""}
            placeholder={effective.model ?? "default"}
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
            Remove
          </button>
          <span class="grow" />
          <button type="submit" class="primary" disabled={action.busy}>
            Save
          </button>
        </div>
      )}
    </form>
  );
}
