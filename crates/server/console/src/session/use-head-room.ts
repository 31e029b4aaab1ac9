import { type RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Keeps what is scrolled to, or has the focus, from under the head that stays at the top of the page. The head's size
 * depends on the title and the window.
 */
export function useHeadRoom(): RefObject<HTMLDivElement | null> {
  const head = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = head.current;
    if (!element) return;
    // On a narrow page only the title and the bar stay, which come first in it.
    const parts = [element, element.firstElementChild].filter((part) => part instanceof HTMLElement);
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => {
      const stays = parts.find((part) => getComputedStyle(part).position === "sticky");
      style.scrollPaddingBlockStart = stays ? `${stays.offsetHeight}px` : "";
    });
    for (const part of parts) observer.observe(part);
    return () => {
      observer.disconnect();
      style.scrollPaddingBlockStart = "";
    };
  }, []);
  return head;
}
