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
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => {
      const stays = getComputedStyle(element).position === "sticky";
      style.scrollPaddingBlockStart = stays ? `${element.offsetHeight}px` : "";
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      style.scrollPaddingBlockStart = "";
    };
  }, []);
  return head;
}
