import type { TSchema } from "@sinclair/typebox";
import { t } from "elysia";
import { integer, object, oneOf, text } from "../schema.ts";

const Words = t.Union([text(4_000), t.Array(t.String({ maxLength: 4_000 }), { maxItems: 200 })]);
const Span = t.Union([text(40), integer({ minimum: 0 })]);
const PORT = "^(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$";
const Port = t.Union([integer({ minimum: 1, maximum: 65_535 }), t.String({ pattern: PORT })]);
/** A path as requests carry it, without a query. */
const PATH = "^/(?!/)[\\x21\\x22\\x24-\\x3e\\x40-\\x7e]*$";
const SERVICE_NAME = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$";

/** A map whose keys all fit a pattern; a key that does not is refused, where JSON Schema alone would leave its value unchecked. */
function map<T extends TSchema>(keys: string, value: T) {
  return t.Record(t.String({ pattern: keys }), value, { additionalProperties: false });
}

const VARIABLE_NAME = "^[^\\s=]{1,255}$";

/** A service of a project with several. */
export const ServiceSchema = object(
  {
    name: t.String({ pattern: SERVICE_NAME, examples: ["web"] }),
    image: t.Optional(text(500, { examples: ["postgres:18"] })),
    build: t.Optional(
      t.Union([
        text(1_000),
        object({
          context: t.Optional(text(1_000)),
          dockerfile: t.Optional(text(1_000)),
          target: t.Optional(text(200)),
          args: t.Optional(map(VARIABLE_NAME, t.String({ maxLength: 10_000 }))),
        }),
      ]),
    ),
    dockerfile: t.Optional(text(1_000)),
    ports: t.Optional(
      t.Array(t.Union([text(100), integer({ minimum: 1, maximum: 65_535 })]), { maxItems: 100, examples: [["80"]] }),
    ),
    dependsOn: t.Optional(
      t.Union([
        t.Array(text(63), { maxItems: 100 }),
        map(
          SERVICE_NAME,
          object({
            condition: oneOf(["service_started", "service_healthy", "service_completed_successfully"] as const),
          }),
        ),
      ]),
    ),
    environment: t.Optional(
      t.Union([map(VARIABLE_NAME, t.String({ maxLength: 65_536 })), t.Array(text(65_792), { maxItems: 500 })]),
    ),
    volumes: t.Optional(t.Array(text(4_000), { maxItems: 100 })),
    command: t.Optional(Words),
    entrypoint: t.Optional(Words),
    restart: t.Optional(text(60)),
    healthcheck: t.Optional(
      object({
        test: t.Optional(Words),
        interval: t.Optional(Span),
        timeout: t.Optional(Span),
        retries: t.Optional(integer({ minimum: 0, maximum: 1_000 })),
        startPeriod: t.Optional(Span),
      }),
    ),
    oneShot: t.Optional(t.Boolean()),
    pullPolicy: t.Optional(oneOf(["missing", "always"] as const)),
    resources: t.Optional(
      object({
        cpus: t.Optional(t.Number({ exclusiveMinimum: 0 })),
        memoryBytes: t.Optional(integer({ minimum: 1 })),
      }),
    ),
    rootDirectory: t.Optional(text(1_000)),
    installCommand: t.Optional(text(2_000)),
    buildCommand: t.Optional(text(2_000)),
    startCommand: t.Optional(text(2_000)),
    outputDirectory: t.Optional(text(1_000)),
    framework: t.Optional(text(100)),
    packageManager: t.Optional(text(100)),
  },
  { title: "Service" },
);

/** An address that leads to a service. */
export const EndpointSchema = object(
  {
    port: t.Optional(Port),
    targetPath: t.Optional(t.String({ pattern: PATH, maxLength: 1_000, examples: ["/"] })),
    domain: t.Optional(text(40)),
    customDomain: t.Optional(text(253)),
    domainType: t.Optional(oneOf(["free", "custom"] as const)),
    service: t.Optional(text(63)),
  },
  { title: "PublicEndpoint" },
);
