/** Where one is: what the part of the address behind `#` says. */
export type Route =
  | { page: "sessions" }
  | { page: "session"; id: string }
  | { page: "preview"; id: string }
  | { page: "compactions"; id: string }
  | { page: "context"; id: string }
  | { page: "epoch"; id: string; epoch: number }
  | { page: "agents" }
  | { page: "channels" }
  | { page: "proxy" }
  | { page: "unknown" };

/** The route of a hash such as `#/sessions/abc/compactions`. */
export function routeOf(hash: string): Route {
  const parts = hash.replace(/^#?\/?/, "").split("/");
  let decoded: string[];
  try {
    decoded = parts.map(decodeURIComponent);
  } catch {
    return { page: "unknown" };
  }
  const [first = "", id = "", third, fourth, ...more] = decoded;
  if (more.length > 0) return { page: "unknown" };
  if (first === "" || (first === "sessions" && id === "")) return { page: "sessions" };
  if (id === "" && (first === "agents" || first === "channels" || first === "proxy")) return { page: first };
  if (first !== "sessions") return { page: "unknown" };
  if (third === undefined) return { page: "session", id };
  if ((third === "compactions" || third === "preview" || third === "context") && fourth === undefined) {
    return { page: third, id };
  }
  if (third === "epochs" && fourth !== undefined && /^\d{1,9}$/.test(fourth)) {
    return { page: "epoch", id, epoch: Number(fourth) };
  }
  return { page: "unknown" };
}

/** The hash of a route. */
export function hashOf(route: Route): string {
  switch (route.page) {
    case "sessions":
    case "unknown":
      return "#/";
    case "agents":
    case "channels":
    case "proxy":
      return `#/${route.page}`;
    case "session":
      return `#/sessions/${encodeURIComponent(route.id)}`;
    case "preview":
    case "compactions":
    case "context":
      return `#/sessions/${encodeURIComponent(route.id)}/${route.page}`;
    case "epoch":
      return `#/sessions/${encodeURIComponent(route.id)}/epochs/${route.epoch}`;
  }
}
