import type { VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

/** How long a notice stays in sight, in milliseconds. Everything that it tells stands elsewhere too. */
const STAYS = 6000;

/** The corner of the page in which things are told, and the function that tells them. */
export function useToast(): { toast: VNode; announce: (text: string) => void } {
  const [told, setTold] = useState({ text: "", number: 0 });
  const [shown, setShown] = useState(false);
  const announce = useCallback((text: string) => {
    setTold(({ number }) => ({ text, number: number + 1 }));
    setShown(true);
  }, []);
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => setShown(false), STAYS);
    return () => clearTimeout(timer);
  }, [shown, told.number]);
  const toast = (
    <div class="toast" role="status" aria-live="polite" data-shown={shown}>
      {told.text}
    </div>
  );
  return { toast, announce };
}
