import { describe, test, expect } from "bun:test";
import { assert, array, constantFrom, dictionary, type Arbitrary, oneof, property, record, string } from "fast-check";
import { adoptionOf } from "../../../domain/migration/adoption.ts";
import { type FoundContainer, CONTAINER_STATES } from "../../../domain/migration/inventory.ts";
import { servicesIn } from "../../../domain/migration/stack.ts";
import { stackOf } from "../../../domain/migration/stack_of.ts";
import { givenServices } from "../../../domain/services/given_services.ts";
import { stackView } from "../../../http/migration/views.ts";
import { found, foundImage, inventoryOf } from "../../support/inputs/found.ts";
import { oddTexts } from "../../support/inputs/odd_texts.ts";

const CANARY = "hunter2canary";

const text = oneof(
  string({ unit: "binary", maxLength: 30 }),
  constantFrom(...oddTexts, "", "a", "web", "../..", "__proto__", "constructor", "a/b", "-x", "\0", "\ud800"),
);
const labels = dictionary(
  oneof(
    text,
    constantFrom(
      ...["project", "service", "container-number", "oneoff", "depends_on"].map((key) => `com.docker.compose.${key}`),
      ...["config_files", "working_dir", "environment_file"].map((key) => `com.docker.compose.project.${key}`),
    ),
  ),
  oneof(text, constantFrom("shop", "web", "db", "db:x:y,web:x:y", "True", "/srv/compose.yml")),
  { maxKeys: 8, noNullPrototype: true },
);
/** Where a secret hides, and must not be shown. */
const secretVariable = constantFrom(
  ["PASSWORD", CANARY],
  ["API_TOKEN", `${CANARY}\nsecond line`],
  ["DATABASE_URL", `postgres://u:${CANARY}@db/x`],
  ["OPTIONS", `--verbose --db-password=${CANARY}`],
  ["CONFIG", `{"password":"${CANARY}"}`],
  ["RSA", `-----BEGIN RSA PRIVATE KEY-----\n${CANARY}`],
);
const secretWords = constantFrom<readonly string[]>(
  [],
  ["serve", "--password", CANARY],
  ["serve", `--token=${CANARY}`],
  ["sh", "-c", `PASSWORD=${CANARY} exec app`],
  ["app", `redis://:${CANARY}@cache/0`],
);

const container: Arbitrary<FoundContainer> = record({
  name: text,
  image: text,
  state: constantFrom(...CONTAINER_STATES),
  labels,
  words: array(text, { maxLength: 4 }),
  secretWords,
  secretVariable,
  environment: dictionary(text, text, { maxKeys: 5, noNullPrototype: true }),
  source: text,
  target: text,
  type: constantFrom("volume", "bind", "tmpfs", "other"),
  restart: text,
  network: text,
  number: constantFrom(0, 1, -1, 80, 65_536, 1e300, 0.5),
  facts: constantFrom(null, foundImage(), foundImage("x", { digests: [], tags: [] })),
}).map((given) => {
  const { environment, facts, labels: all, name, network, number, restart, secretVariable: secret, words } = given;
  return found({
    name,
    image: given.image,
    state: given.state,
    imageFacts: facts,
    labels: { ...all, "my.password": CANARY },
    command: [...words, ...given.secretWords],
    entrypoint: words,
    environment: { ...environment, [secret[0]!]: secret[1]! },
    mounts: [{ type: given.type, source: given.source, target: given.target, readOnly: true, anonymous: false }],
    restart,
    networks: [{ name: network, aliases: [network], addresses: [network] }],
    networkMode: network,
    ports: [{ port: number, protocol: network, published: { address: network, port: number } }],
    healthcheck: {
      test: ["CMD", ...given.secretWords],
      intervalMs: number,
      timeoutMs: null,
      startPeriodMs: null,
      retries: number,
    },
    limits: { memoryBytes: number, cpus: number },
    recipe: CANARY,
  });
});

function stackWith(containers: readonly FoundContainer[]) {
  const unread = containers.map(({ name }) => ({ name, reason: name }));
  return stackOf(inventoryOf(containers, { unread }), new Map());
}

describe("whatever a server has", () => {
  test("all of it is found exactly once, and no secret is shown", () => {
    assert(
      property(array(container, { maxLength: 5 }), (containers) => {
        const stack = stackWith(containers);
        const shown = [...servicesIn(stack).flatMap((service) => service.containers), ...stack.managed];
        expect(shown).toHaveLength(containers.length);
        const view = stackView({ serverId: "srv", scannedAt: new Date(0), stack });
        expect(JSON.stringify(view)).not.toContain(CANARY);
      }),
    );
  });

  test("it becomes services that a project can have, without a secret in their definitions", () => {
    assert(
      property(array(container, { maxLength: 5 }), (containers) => {
        const adoption = adoptionOf(servicesIn(stackWith(containers)), "srv_01m7edka8326kz9mv55sbbg868");
        expect(adoption.services).toHaveLength(containers.length);
        const definitions = adoption.services.map(({ definition }) => definition);
        givenServices(definitions);
        expect(JSON.stringify([definitions, adoption.warnings])).not.toContain(CANARY);
        for (const { key, secret, value } of adoption.variables) {
          if (value.reveal().includes(CANARY)) expect([key, secret]).toEqual([key, true]);
        }
        expect(new Set(adoption.variables.map(({ key }) => key)).size).toBe(adoption.variables.length);
      }),
    );
  });
});
