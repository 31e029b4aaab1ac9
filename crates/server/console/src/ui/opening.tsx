import { type ComponentChildren, createContext, type VNode } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";

import { t } from "../lang";
import { hashOf } from "../lib/route";
import { type Action, useAction, useAnnounce, useClient } from "./hooks";

export interface Opening {
  action: Action;
  /** Makes sessions of recorded files, and goes to the session where it is only one. */
  open: (files: Iterable<File>) => void;
  /** Counts up when sessions have come. */
  opened: number;
}

const OpeningContext = createContext<Opening | null>(null);

/** Opens recorded sessions. */
export function useOpening(): Opening {
  const opening = useContext(OpeningContext);
  if (!opening) throw new Error("nothing opens files here");
  return opening;
}

/** Opens recorded sessions that are dropped anywhere on the page. */
export function OpeningProvider({ children }: { children: ComponentChildren }): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [opened, setOpened] = useState(0);
  const [over, setOver] = useState(false);

  const open = (files: Iterable<File>) => {
    const all = [...files];
    if (all.length === 0) return;
    void action.run(async () => {
      const ids: string[] = [];
      let passed = 0;
      try {
        for (const file of all) {
          announce(t.opening.opening(file.name));
          const { sessions, warnings } = await client.importFile(file);
          ids.push(...sessions.map(({ id }) => id));
          passed += warnings.length;
        }
        announce(t.opening.opened(ids.length, passed));
        const [id] = ids;
        const target = ids.length === 1 && id !== undefined ? hashOf({ page: "session", id }) : hashOf({ page: "sessions" });
        location.hash = target;
      } catch (error) {
        location.hash = hashOf({ page: "sessions" }); // where it is told
        throw error;
      } finally {
        setOpened((opened) => opened + 1);
      }
    });
  };

  const newest = useRef(open);
  newest.current = open;
  useEffect(() => {
    const dragged = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // otherwise the browser would leave the page for the file
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      newest.current(event.dataTransfer.files);
    };
    addEventListener("dragover", dragged);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", dragged);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, []);

  return (
    <OpeningContext.Provider value={{ action, open, opened }}>
      {children}
      {over && <div class="drop-here">{t.opening.drop}</div>}
    </OpeningContext.Provider>
  );
}
