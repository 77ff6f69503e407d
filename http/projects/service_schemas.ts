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
            context: "Build context: a folder of the source. Defaults to the whole source",
            dockerfile: "Path of the Dockerfile in that folder. Defaults to Dockerfile",
            target: "Target stage. Defaults to the last stage",
            args: "Build arguments of the Dockerfile. Not secret: they can be read from the image",
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
          condition: explained(CONDITION, { description: "State that the dependency must reach" }),
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
          test: "Shell command, a list that begins with CMD or CMD-SHELL, or NONE to disable the image's check",
          interval: "Time between two checks: 30s, 1m30s, 500ms, or a number of seconds",
          timeout: "Timeout of one check",
          retries: "Number of consecutive failures that make the service unhealthy",
          startPeriod: "Time after a start during which failures do not count",
        },
      ),
    ),
  ),
  oneShot: t.Optional(t.Boolean()),
  pullPolicy: t.Optional(explained(PULL_POLICY)),
  resources: t.Optional(
    object({
      cpus: t.Optional(t.Number({ exclusiveMinimum: 0, description: "CPU limit in cores; may be fractional" })),
      memoryBytes: t.Optional(integer({ minimum: 1, description: "Memory limit in bytes" })),
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
    name: "Name, by which other services resolve it; unique in the project",
    image: "Image from a registry",
    build: "Build context (a folder of the source with a Dockerfile), or build options",
    dockerfile: "Path of the Dockerfile in the folder of build, else in rootDirectory",
    ports: "Ports that it listens on inside, the most important first; none is published on the host",
    dependsOn: "Services that must be started before it, or a map from each service to a condition",
    environment:
      "Variables, as a map or a list of NAME=value; NAME alone passes the project's variable of the environment that it is deployed to",
    volumes: "Mounts: name:/target, ./path:/target[:ro], or /target alone",
    command: "Command, instead of the image's own",
    entrypoint: "Entrypoint, instead of the image's own",
    restart: "Accepts the values of compose files, but has no effect: a service is kept running unless oneShot is true",
    healthcheck: "Health check. Defaults to that of the image",
    oneShot: "Whether it runs to completion and is not restarted. Defaults to false",
    pullPolicy: "When to pull the image. Defaults to missing",
    resources: "Resource limits",
    rootDirectory: "Folder of an app inside the source. Defaults to the whole source",
    installCommand: "Command that installs the packages of an app. Defaults to the detected one, as the rest",
    buildCommand: "Command that builds an app",
    startCommand: "Command that starts an app",
    outputDirectory: "Output folder of the build of a static site",
    framework: "Framework of an app",
    packageManager: "Package manager of an app",
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
    port: "Port inside the service. Defaults to its first port",
    targetPath: "Path prefix to route. Defaults to /",
    domain: "Label of a free host name under the base domain; it is claimed for the project",
    customDomain: "Full custom host name, which must be verified first",
    domainType: "Which one applies if both domain and customDomain are given",
    service: "Name of the service; required if several services listen on the port",
  }),
  { title: "PublicEndpoint" },
);
