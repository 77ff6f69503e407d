import { Failure } from "../failure.ts";
import { givenServices } from "../services/given_services.ts";
import type { ServiceDefinition, ServiceHealthcheck } from "../services/service_definition.ts";
import type { NamedContainer } from "./adopted_names.ts";
import { isFinishedJob } from "./finished_job.ts";
import { fullReference } from "./image_reference.ts";
import type { FoundContainer, FoundHealth, FoundMount, FoundPort } from "./inventory.ts";
import { maskedText, maskedWords } from "./secret_looking.ts";

const LONGEST_WORD = 4_000;
const MOST_ITEMS = 100;

/** A definition with what it cannot express. */
interface WrittenDefinition {
  readonly definition: ServiceDefinition;
  readonly warnings: readonly string[];
}

/**
 * Writes the definition of a service that runs like a container. What a definition cannot express, or what looks like a
 * secret, is only in the recipe of the container.
 */
export function adoptedDefinition(
  { container, name, service }: NamedContainer,
  all: readonly NamedContainer[],
): WrittenDefinition {
  const { imageFacts } = container;
  const image = referenceOf(container);
  const hasOwnEntrypoint = isOther(container.entrypoint, imageFacts?.entrypoint);
  const fields: Partial<ServiceDefinition> = {
    ...(hasOwnEntrypoint && { entrypoint: container.entrypoint }),
    // An entrypoint of its own clears the command of the image.
    ...((hasOwnEntrypoint || isOther(container.command, imageFacts?.command)) && { command: container.command }),
    ports: container.ports.filter(({ protocol }) => protocol === "tcp" || protocol === "udp").map(portText),
    volumes: container.mounts.flatMap(volumeText),
    dependsOn: dependenciesIn(service, all),
    restart: container.restart,
    ...(isFinishedJob(container) && { oneShot: true }),
    ...(container.healthcheck && { healthcheck: healthText(container.healthcheck) }),
    ...resourcesOf(container),
  };
  const hidden = [...secretFields(fields)];
  const shown = Object.entries(fields).filter(([key]) => !hidden.includes(key));
  const kept = shown.filter(
    ([key, value]) => isStated(value) && fits(value) && isAccepted({ name, image, [key]: value }, all),
  );
  const isLost = (key: string) => !kept.some(([each]) => each === key);
  const lost = shown.filter(([key, value]) => isStated(value) && isLost(key)).map(([key]) => key);
  return {
    definition: { name, image, ...Object.fromEntries(kept) },
    warnings: [
      ...hidden.map((key) => `${service.key}: its ${key} contains what looks like a secret, so it is kept encrypted`),
      ...lost.map((key) => `${service.key}: its ${key} is kept as it is, but cannot be shown or changed here`),
    ],
  };
}

/** Returns the image by its digest in the repository it came from, else by its id, which only its server knows. */
function referenceOf({ image, imageFacts, imageId }: FoundContainer): string {
  const digests = imageFacts?.digests ?? [];
  const repository = repositoryOf(image);
  return digests.find((digest) => repositoryOf(digest) === repository) ?? digests[0] ?? (imageId || image);
}

function repositoryOf(reference: string): string {
  return fullReference(reference)
    .split("@")[0]!
    .replace(/:[^/:]*$/, "");
}

function isOther(words: readonly string[], image: readonly string[] = []): boolean {
  return words.length !== image.length || words.some((word, index) => word !== image[index]);
}

/** Writes a port as in compose files: `8080:80`, `127.0.0.1:53:53/udp`, `80`. */
export function portText({ port, protocol, published }: FoundPort): string {
  const ending = `${port}${protocol === "tcp" ? "" : `/${protocol}`}`;
  if (published === null) return ending;
  const { address } = published;
  const isEverywhere = ["", "0.0.0.0", "::"].includes(address);
  const place = isEverywhere ? "" : address.includes(":") ? `[${address}]:` : `${address}:`;
  const outside = published.port === null ? (place === "" ? "" : ":") : `${published.port}:`;
  return `${place}${outside}${ending}`;
}

/** Writes a mount as in compose files; memory and unusual kinds are left to the recipe. */
function volumeText({ readOnly, source, target, type }: FoundMount): readonly string[] {
  if ((type !== "bind" && type !== "volume") || source === "") return [];
  return [`${source}:${target}${readOnly ? ":ro" : ""}`];
}

/** The dependencies that are adopted too, by the names that they get. */
function dependenciesIn(service: NamedContainer["service"], all: readonly NamedContainer[]): readonly string[] {
  return service.dependsOn.flatMap((name) => {
    const other = all.find((each) => each.service.project === service.project && each.service.name === name);
    return other && other.service !== service ? [other.name] : [];
  });
}

function healthText({ intervalMs, retries, startPeriodMs, test, timeoutMs }: FoundHealth): ServiceHealthcheck {
  return {
    test: [...test],
    ...(intervalMs !== null && { interval: `${intervalMs}ms` }),
    ...(timeoutMs !== null && { timeout: `${timeoutMs}ms` }),
    ...(startPeriodMs !== null && { startPeriod: `${startPeriodMs}ms` }),
    ...(retries !== null && { retries }),
  };
}

function resourcesOf({ limits: { cpus, memoryBytes } }: FoundContainer): Pick<ServiceDefinition, "resources"> {
  if (cpus === null && memoryBytes === null) return {};
  return { resources: { ...(cpus !== null && { cpus }), ...(memoryBytes !== null && { memoryBytes }) } };
}

/** Returns the fields with words that look like secrets: settings are shown to everyone who can see the project. */
function secretFields({ command, entrypoint, healthcheck }: Partial<ServiceDefinition>): readonly string[] {
  const words = { command, entrypoint, healthcheck: healthcheck?.test };
  return Object.entries(words).flatMap(([key, given]) => {
    const list = typeof given === "string" ? [given] : (given ?? []);
    const masked = maskedWords(list);
    return list.some((word, index) => masked[index] !== word || maskedText(word) !== word) ? [key] : [];
  });
}

function isStated(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Returns whether a value is as short as those that a project's settings can have. */
function fits(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_WORD;
  if (Array.isArray(value)) return value.length <= MOST_ITEMS && value.every(fits);
  return typeof value !== "object" || value === null || Object.values(value).every(fits);
}

/** Returns whether a definition is one that a project can have. */
function isAccepted(definition: ServiceDefinition, all: readonly NamedContainer[]): boolean {
  const others = all.filter(({ name }) => name !== definition.name).map(({ name }) => ({ name, image: "any" }));
  try {
    givenServices([definition, ...others]);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}
