import { expect, test } from "vitest";

import { type Route, hashOf, routeOf } from "./route";

test.each<[hash: string, route: Route]>([
  ["", { page: "sessions" }],
  ["#/", { page: "sessions" }],
  ["#/agents", { page: "agents" }],
  ["#/channels", { page: "channels" }],
  ["#/sessions/a", { page: "session", id: "a" }],
  ["#/sessions/a%2Fb%20c", { page: "session", id: "a/b c" }],
  ["#/sessions/a/compactions", { page: "compactions", id: "a" }],
  ["#/proxy", { page: "proxy" }],
  ["#/sessions/a/preview", { page: "preview", id: "a" }],
  ["#/sessions/a/context", { page: "context", id: "a" }],
  ["#/sessions/a/epochs/12", { page: "epoch", id: "a", epoch: 12 }],
])("%s", (hash, route) => {
  expect(routeOf(hash)).toEqual(route);
  expect(routeOf(hashOf(route))).toEqual(route);
});

test.each(["#/nowhere", "#/sessions/%", "#/sessions/a/epochs/-1", "#/sessions/a/epochs/x", "#/sessions/a/b/c/d", "#/agents/a"])(
  "%s is no page",
  (hash) => {
    expect(routeOf(hash)).toEqual({ page: "unknown" });
  },
);
