import type { VNode } from "preact";
import { useEffect } from "preact/hooks";

/** The page's heading, which is the window's title too. */
export function Heading({ title }: { title: string }): VNode {
  useEffect(() => {
    document.title = `${title} · epitome`;
  }, [title]);
  return (
    <h1 tabIndex={-1} dir="auto">
      {title}
    </h1>
  );
}
