import { describe, expect, test } from "bun:test";
import { Failure } from "../../../domain/failure.ts";
import { chosenServices } from "../../../domain/migration/chosen_services.ts";
import type { ProjectFiles } from "../../../domain/migration/stack.ts";
import { stackOf } from "../../../domain/migration/stack_of.ts";
import { found, foundIn, inventoryOf } from "../../support/inputs/found.ts";

const declared = {
  name: "worker",
  image: null,
  written: { image: null, restart: null },
  build: null,
  command: null,
  entrypoint: null,
  environment: {},
  ports: [],
  mounts: [],
  hasFiles: false,
  restart: null,
  dependsOn: [],
  replicas: null,
  profiles: [],
};
const files: ProjectFiles = { services: new Map([["worker", declared]]), warnings: [], isComplete: true };
const stack = stackOf(
  inventoryOf([
    foundIn("shop", "web"),
    foundIn("shop", "db"),
    foundIn("blog", "web"),
    found({ name: "cache" }),
    found({ name: "scratch", removedAtEnd: true }),
    ...[false, true].map((removedAtEnd, index) => {
      const labels = { "com.docker.compose.container-number": `${index + 1}` };
      return foundIn("shop", "queue", { name: `shop-queue-${index + 1}`, labels, removedAtEnd });
    }),
    found({ name: "slipway-app", labels: { "slipway.installation": "x" } }),
  ]),
  new Map([["shop", files]]),
);

const keys = (names: readonly string[]) => chosenServices(stack, names).map(({ key }) => key);

function refusal(...names: readonly string[]): Failure {
  try {
    chosenServices(stack, names);
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  throw new Error("It was accepted");
}

describe("chosenServices()", () => {
  test("finds services by key, and by a bare name that is unique", () => {
    expect(keys(["shop/web", "db", "cache"])).toEqual(["shop/web", "shop/db", "cache"]);
  });

  test("chooses each only once", () => {
    expect(keys(["db", "shop/db", "db"])).toEqual(["shop/db"]);
  });

  test("prefers a key over a bare name", () => {
    const both = stackOf(inventoryOf([foundIn("shop", "web"), found({ name: "web" })]), new Map());
    expect(chosenServices(both, ["web"])).toMatchObject([{ key: "web", source: "container" }]);
  });

  test("refuses an ambiguous name with the keys to choose from", () => {
    const failure = refusal("db", "web");
    expect(failure).toMatchObject({ kind: "invalid", code: "service_ambiguous" });
    expect(failure.message).toContain("blog/web, shop/web");
    expect(failure.details).toEqual([{ path: "serviceNames.1", message: "use one of blog/web, shop/web" }]);
  });

  test.each([
    ["unknown/web", "there is no such service"],
    ["Cache", "there is no such service on the server"],
    ["shop", "There are blog/web, shop/db, shop/queue, shop/web, shop/worker, cache, scratch"],
    ["worker", "there is no container of this service"],
    ["shop/worker", "Start it on the server first"],
    ["slipway-app", "Slipway started this container"],
    ["scratch", "it was started with --rm, so the engine removes it, and its unnamed volumes, as soon as it stops"],
    ["shop/queue", "Start it without --rm first, then scan again"],
  ])("refuses %s: %s", (name, why) => {
    const failure = refusal(name);
    expect(failure.kind).toBe("invalid");
    expect(failure.details![0]!.path).toBe("serviceNames.0");
    expect(failure.details![0]!.message).toContain(why);
  });

  test("says when there is nothing at all", () => {
    const empty = stackOf(inventoryOf([]), new Map());
    expect(() => chosenServices(empty, ["web"])).toThrow("nothing runs on the server");
  });

  test("lists no more than a few dozen keys", () => {
    const many = stackOf(inventoryOf(Array.from({ length: 200 }, (_, n) => found({ name: `c${n}` }))), new Map());
    expect(() => chosenServices(many, ["nothing"])).toThrow(/c29 and others/);
  });
});
