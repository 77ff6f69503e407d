import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { CANARY, fillWithHostility, MARKER, TEXTS } from "../support/apps/hostile_server.ts";
import { Migrating } from "../support/apps/migrating.ts";
import { type ManagedServer, startManagedServer } from "../support/peers/managed_server.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

const WARNINGS = [
  "bomb: /srv/bomb/compose.yaml:6: Cannot read this: it expands to more than 20000 values. Use fewer aliases",
  "deep: /srv/deep/compose.yaml:1: Cannot read this: more than 100 lists and maps are nested. Flatten it",
  "folder: cannot compare it with /srv: it is not a file",
  'itself: /srv/itself/compose.yaml:1: Cannot include "/srv/itself/compose.yaml": it includes itself. Break the cycle',
  "large: cannot compare it with /srv/large/compose.yaml: it is larger than 512 KiB",
  "list: cannot compare it with its compose files: there are more than 50",
  "nothing: cannot compare it with its compose files: it does not say where they are",
  "pipe: cannot compare it with /srv/pipe: it is not a file",
  "token: /root/token:1: Cannot read this as a compose file: it has no keys such as services",
  "zeros: cannot compare it with /dev/zero: it is not a file",
];

let server: ManagedServer;
let slipway: SlipwayProcess;
let names: readonly string[];
beforeAll(async () => {
  const settings = { LOG_LEVEL: "debug", LOG_FORMAT: "text" };
  [server, slipway] = await Promise.all([startManagedServer(), SlipwayProcess.start(settings)]);
  await server.loadTinyImage();
  names = await fillWithHostility(server);
});
afterAll(async () => {
  await slipway?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

interface Found {
  readonly key: string;
  readonly containerIds: readonly string[];
}

/** All services of a scan. */
function servicesOf({ stack }: { stack: { composeProjects: { services: Found[] }[]; containers: Found[] } }): Found[] {
  return [...stack.composeProjects.flatMap(({ services }) => services), ...stack.containers];
}

/** Expects that nothing of the server was run, and that nothing of it can steer a terminal through the log. */
async function expectUnharmed(): Promise<void> {
  expect(existsSync(MARKER)).toBe(false);
  expect(await server.exec(["sh", "-c", "ls -d /tmp/slipway-was-here* /tmp/x 2>/dev/null || true"])).toBe("");
  const printed = slipway.program.stdout + slipway.program.stderr;
  expect(printed).toContain("/api/migration/");
  // oxlint-disable-next-line no-control-regex
  expect(printed.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)).toBeNull();
  expect(printed).not.toContain(CANARY);
}

test("a scan of a hostile server finds every container, runs nothing and shows no other file", async () => {
  const migrating = await Migrating.of(slipway, server);
  const { body, status, text } = await migrating.scan();
  expect(status).toBe(200);
  expect(servicesOf(body).flatMap(({ containerIds }) => containerIds)).toHaveLength(names.length);
  expect(text).not.toContain(CANARY);
  const { warnings } = body.stack;
  for (const warning of WARNINGS) expect(warnings).toContain(warning);
  await expectUnharmed();
});

test("adopting hostile services stores them as they are, runs nothing and shows no other file", async () => {
  const migrating = await Migrating.of(slipway, server);
  const { body } = await migrating.scan();
  const keys = servicesOf(body).flatMap(({ containerIds, key }) => (containerIds.length > 0 ? [key] : []));
  const adopted = await migrating.adopt("<script>alert(1)</script> $(id)", keys);
  expect(adopted.status).toBe(200);
  const services: string[] = adopted.body.adopted.map(({ service }: { service: string }) => service);
  expect(new Set(services).size).toBe(names.length);
  expect(services.filter((name) => !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))).toEqual([]);
  const variables = await migrating.call("GET", `/api/projects/${adopted.body.project_id}/env`);
  const values: { key: string; value: string | null }[] = variables.body.data;
  const stored = TEXTS.map((_, index) => values.find(({ key }) => key === `values/V${index}`)?.value);
  expect(stored).toEqual([...TEXTS]);
  for (const { text } of [adopted, variables]) expect(text).not.toContain(CANARY);
  await expectUnharmed();
});
