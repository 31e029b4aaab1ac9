import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import type { Channel } from "../api/types";
import { t } from "../lang";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { ChannelForm } from "./channel-form";

/** The ways to models. Keys are named and never shown; those of the configuration cannot be changed here. */
export function ChannelsScreen(): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [onlyAuxiliary, setOnlyAuxiliary] = useState(false);
  const [edited, setEdited] = useState<string | null>(null);
  const loaded = useLoad(useCallback(() => client.channels(), [client]));
  const shown = loaded.value?.filter(({ compaction }) => compaction || !onlyAuxiliary);
  const service = useLoad(useCallback(() => client.ready(), [client]));
  const takesNone = service.value?.takes_channels === false;
  const channel = loaded.value?.find(({ name }) => name === edited);
  const remove = ({ name }: Channel) =>
    action.run(async () => {
      await client.removeChannel(name);
      announce(t.channels.removed(name));
      if (edited === name) setEdited(null);
      loaded.reload();
    });
  return (
    <>
      <Heading title={t.channels.title} />
      <label class="check">
        <input
          type="checkbox"
          checked={onlyAuxiliary}
          onChange={(event) => setOnlyAuxiliary(event.currentTarget.checked)}
        />
        {t.channels.onlyAuxiliary}
      </label>
      {loaded.error && <Problem error={loaded.error} />}
      {action.error && <Problem error={action.error} />}
      {shown?.length === 0 && (
        <p class="quiet-text">
          {onlyAuxiliary ? t.channels.noneAuxiliary : t.channels.none} {t.channels.byRules}
        </p>
      )}
      {shown && shown.length > 0 && (
        <div class="table" tabIndex={0} role="group" aria-label={t.channels.title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t.channels.columns.name}</th>
                <th scope="col">{t.channels.columns.kind}</th>
                <th scope="col">{t.channels.columns.address}</th>
                <th scope="col">{t.channels.columns.models}</th>
                <th scope="col">{t.channels.columns.key}</th>
                <th scope="col">{t.channels.columns.source}</th>
                <th scope="col">{t.channels.columns.change}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((channel) => (
                <tr key={channel.name}>
                  <th scope="row">
                    {channel.name} {channel.compaction && <span class="badge auxiliary">{t.channels.auxiliary}</span>}{" "}
                    {channel.default && <span class="badge">{t.words.default}</span>}
                  </th>
                  <td>{channel.kind}</td>
                  <td class="wrap">
                    {channel.base_url}
                    {channel.problem !== undefined && <p class="warning">{channel.problem}</p>}
                  </td>
                  <td>{channel.models.join(", ")}</td>
                  <td>{channel.has_key ? t.channels.keyNamed : t.channels.keyNone}</td>
                  <td>{t.channels.sources[channel.source]}</td>
                  <td>
                    {channel.source === "stored" && (
                      <span class="buttons">
                        <button
                          type="button"
                          disabled={takesNone}
                          aria-label={t.channels.editOne(channel.name)}
                          onClick={() => setEdited(channel.name)}
                        >
                          {t.words.edit}
                        </button>
                        <button
                          type="button"
                          class="danger"
                          aria-label={t.channels.removeOne(channel.name)}
                          disabled={action.busy}
                          onClick={() => void remove(channel)}
                        >
                          {t.words.remove}
                        </button>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {takesNone ? (
        <p class="notice">{t.channels.notHere}</p>
      ) : (
      <ChannelForm
        key={channel?.name ?? ""}
        channel={channel ?? null}
        others={(loaded.value ?? []).filter(({ name }) => name !== channel?.name)}
        onDone={() => {
          setEdited(null);
          loaded.reload();
        }}
        onCancel={() => setEdited(null)}
      />
      )}
    </>
  );
}
