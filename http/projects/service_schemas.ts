import type { TSchema } from "@sinclair/typebox";
import { t } from "elysia";
import { CONDITION, DOMAIN_TYPE, PULL_POLICY } from "../meanings.ts";
import { KEY_PHRASE, PHRASE } from "../expectation.ts";
import { described, explained, integer, object, text } from "../schema.ts";

const Words = t.Union([text(4_000), t.Array(t.String({ maxLength: 4_000 }), { maxItems: 200 })]);
const Span = t.Union([{ ...text(40), [PHRASE]: 'a duration such as "30s" or "1m30s"' }, integer({ minimum: 0 })]);
const PORT = "^(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$";
const Port = t.Union([
  integer({ minimum: 1, maximum: 65_535 }),
  t.String({ pattern: PORT, [PHRASE]: "a whole number from 1 to 65535" }),
]);
/** A request path without a query. */
const PATH = {
  pattern: "^/(?!/)[\\x21\\x22\\x24-\\x3e\\x40-\\x7e]*$",
  maxLength: 1_000,
  [PHRASE]: 'a path of at most 1000 characters that begins with one "/", without spaces, "?" and "#"',
};
const SERVICE_NAME = {
  pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$",
  [PHRASE]: 'a name of 1 to 63 letters, digits, "_", "." and "-" that begins with a letter or digit',
};
const VARIABLE_NAME = {
  pattern: "^[^\\s=]{1,255}$",
  [PHRASE]: 'a name of 1 to 255 characters without spaces and "="',
};

/**
 * A map whose keys must match a pattern. Other keys are refused; JSON Schema alone would leave their values
 * unvalidated.
 */
function map<T extends TSchema>({ pattern, [PHRASE]: phrase }: typeof VARIABLE_NAME, value: T) {
  return t.Record(t.String({ pattern }), value, { additionalProperties: false, [KEY_PHRASE]: phrase });
}

const service = {
  name: t.String({ ...SERVICE_NAME, examples: ["web"] }),
  image: t.Optional(text(500, { examples: ["postgres:18"] })),
  build: t.Optional(
    t.Union([
      text(1_000),
      object(
        described(
          {
            context: t.Optional(text(1_000)),
            dockerfile: t.Optional(text(1_000)),
            target: t.Optional(text(200)),
            args: t.Optional(map(VARIABLE_NAME, t.String({ maxLength: 10_000 }))),
          },
          {
            context: "The folder of the source that it is built in. Defaults to the whole source",
            dockerfile: "The Dockerfile in that folder. Defaults to Dockerfile",
            target: "The stage to stop at. Defaults to the last",
            args: "Arguments of the Dockerfile; everybody who has the image can read them",
          },
        ),
      ),
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
          condition: explained(CONDITION, { description: "What is waited for" }),
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
    object(
      described(
        {
          test: t.Optional(Words),
          interval: t.Optional(Span),
          timeout: t.Optional(Span),
          retries: t.Optional(integer({ minimum: 0, maximum: 1_000 })),
          startPeriod: t.Optional(Span),
        },
        {
          test: "A text for a shell, words after CMD or CMD-SHELL, or NONE to switch off the image's own",
          interval: "How long between two checks: 30s, 1m30s, 500ms, or seconds",
          timeout: "How long one may take",
          retries: "How many have to fail in a row",
          startPeriod: "How long failures do not count after a start",
        },
      ),
    ),
  ),
  oneShot: t.Optional(t.Boolean()),
  pullPolicy: t.Optional(explained(PULL_POLICY)),
  resources: t.Optional(
    object({
      cpus: t.Optional(t.Number({ exclusiveMinimum: 0, description: "Processors, also parts of one" })),
      memoryBytes: t.Optional(integer({ minimum: 1, description: "Memory" })),
    }),
  ),
  rootDirectory: t.Optional(text(1_000)),
  installCommand: t.Optional(text(2_000)),
  buildCommand: t.Optional(text(2_000)),
  startCommand: t.Optional(text(2_000)),
  outputDirectory: t.Optional(text(1_000)),
  framework: t.Optional(text(100)),
  packageManager: t.Optional(text(100)),
};

/** A service of a project with several services. */
export const ServiceSchema = object(
  described(service, {
    name: "What the others find it by; unique in the project",
    image: "An image of a registry",
    build: "A folder of the source with a Dockerfile, or more about it",
    dockerfile: "The Dockerfile in the folder of build, else in rootDirectory",
    ports: "Those inside that it listens on, the most important first; none is published on the machine",
    dependsOn: "Services that have to be up before it is started, or a map of what is waited for",
    environment: "A map, or a list of NAME=value; NAME alone takes the project's variable",
    volumes: "What it mounts: name:/target, ./path:/target[:ro], or /target alone",
    command: "What it is started with instead of the image's own",
    entrypoint: "The program that gets the command, instead of the image's own",
    restart: "Understood as in compose files; whatever it says, the service is kept running",
    healthcheck: "How it is found out whether it is well. Defaults to what the image says",
    oneShot: "Whether it ends by itself and is done then. Defaults to false",
    pullPolicy: "When its image is fetched. Defaults to missing",
    resources: "What it may use at most",
    rootDirectory: "The folder of an app of the source. Defaults to the whole",
    installCommand: "How an app's packages are installed. Defaults to what is detected, as the rest",
    buildCommand: "How an app is built",
    startCommand: "How an app is started",
    outputDirectory: "Where the build of a site leaves its files",
    framework: "The framework of an app",
    packageManager: "What installs the packages of an app",
  }),
  { title: "Service" },
);

const endpoint = {
  port: t.Optional(Port),
  targetPath: t.Optional(t.String({ ...PATH, examples: ["/"] })),
  domain: t.Optional(text(40)),
  customDomain: t.Optional(text(253)),
  domainType: t.Optional(explained(DOMAIN_TYPE, { title: "DomainType" })),
  service: t.Optional(text(63)),
};

/** An address that routes to a service. */
export const EndpointSchema = object(
  described(endpoint, {
    port: "The port inside. Defaults to the service's first",
    targetPath: "The path that it serves, with all below it. Defaults to /",
    domain: "A free label under the base domain; it becomes the project's",
    customDomain: "A full name, which has to be proven before",
    domainType: "Which of the two counts, where both are given",
    service: "The name of the service; needed where several listen on the port",
  }),
  { title: "PublicEndpoint" },
);
