import type { DeclaredMount, DeclaredService } from "../compose/declared_services.ts";
import type { PortEntry } from "../services/port_notation.ts";
import { fullReference, isImageId } from "./image_reference.ts";
import type { FoundContainer, FoundMount } from "./inventory.ts";
import { maskedWords } from "./secret_looking.ts";

/**
 * Lists where a running service differs from its compose files, one sentence each, without a secret and without a value
 * that comes from a variable of those files. Containers of a
 * service differ from each other only in what the engine chose, so the first stands for all.
 */
export function driftOf(containers: readonly FoundContainer[], declared: DeclaredService): readonly string[] {
  const [first] = containers;
  if (!first) return ["it has no container, although the compose files declare it"];
  return [
    ...imageDrift(first, declared),
    ...programDrift(first, declared),
    ...environmentDrift(first, declared),
    ...portDrift(first, declared),
    ...mountDrift(first, declared),
    ...restartDrift(first, declared),
    ...countDrift(containers, declared),
  ];
}

/** Reports a container whose image was replaced by a newer one of the same name. */
export function outdatedImage({ image, imageFacts }: FoundContainer): readonly string[] {
  if (!imageFacts || image.includes("@") || isImageId(image)) return [];
  const tags = imageFacts.tags.map(fullReference);
  return tags.includes(fullReference(image))
    ? []
    : [`image: ${image} is another image on the server now than the one that runs`];
}

function imageDrift(
  container: FoundContainer,
  { image, build, written: { image: named } }: DeclaredService,
): readonly string[] {
  const outdated = outdatedImage(container);
  if (image === null || (build !== null && isImageId(container.image))) return outdated;
  const isSame = fullReference(image) === fullReference(container.image);
  return isSame ? outdated : [`image: ${container.image} runs, the compose files say ${named}`];
}

function programDrift(container: FoundContainer, declared: DeclaredService): readonly string[] {
  const { imageFacts } = container;
  if (!imageFacts) return [];
  const entrypoint = declared.entrypoint ?? imageFacts.entrypoint;
  // An entrypoint of its own clears the command of the image.
  const command = declared.command ?? (declared.entrypoint === null ? imageFacts.command : []);
  return [
    ...wordsDrift("entrypoint", container.entrypoint, entrypoint),
    ...wordsDrift("command", container.command, command),
  ];
}

function wordsDrift(what: string, running: readonly string[], declared: readonly string[]): readonly string[] {
  if (running.length === declared.length && running.every((word, index) => word === declared[index])) return [];
  // What the files say may contain values of variables, so it is not shown.
  return [`${what}: ${written(running)} runs, the compose files say otherwise`];
}

function written(words: readonly string[]): string {
  return words.length === 0 ? "nothing" : JSON.stringify(maskedWords(words));
}

function environmentDrift({ environment, imageFacts }: FoundContainer, declared: DeclaredService): readonly string[] {
  const wanted = new Map(Object.entries(declared.environment));
  const missing = [...wanted.keys()].filter((key) => !environment.has(key));
  const other = [...wanted].filter(([key, value]) => environment.has(key) && environment.get(key)!.reveal() !== value);
  const extra = [...environment].filter(([key, value]) => {
    return !wanted.has(key) && imageFacts?.environment.get(key)?.reveal() !== value.reveal();
  });
  return [
    ...listed("environment: not set in the container", missing),
    ...listed(
      "environment: other values in the container",
      other.map(([key]) => key),
    ),
    ...listed(
      "environment: set in the container only",
      extra.map(([key]) => key),
    ),
  ];
}

function portDrift({ ports }: FoundContainer, declared: DeclaredService): readonly string[] {
  if (declared.ports === null) return [];
  const running = ports.flatMap(({ port, protocol, published }) =>
    published ? [portText(published.address, published.port, port, protocol)] : [],
  );
  const wanted = declared.ports.flatMap(portTexts);
  return [
    ...listed("ports: published by the container only", without(running, wanted)),
    ...listed("ports: not published by the container", without(wanted, running)),
  ];
}

function portTexts({ address, ports, protocol, published }: PortEntry): readonly string[] {
  const [first, last = first] = (published ?? "").split("-").map(Number);
  const isRange = first !== undefined && last !== undefined && last - first + 1 === ports.length;
  return ports.map((port, index) => {
    // Of more ports than it needs, the engine chooses.
    const outside = published !== null && isRange ? first + index : null;
    return portText(address ?? "", outside, port, protocol);
  });
}

function portText(address: string, outside: number | null, port: number, protocol: string): string {
  const plain = address.replaceAll(/^\[|\]$/g, "");
  const everywhere = ["", "0.0.0.0", "::"].includes(plain);
  return `${everywhere ? "" : `${plain}:`}${outside ?? ""}:${port}/${protocol}`;
}

function mountDrift({ imageFacts, mounts }: FoundContainer, declared: DeclaredService): readonly string[] {
  if (declared.mounts === null) return [];
  const own = new Set(imageFacts?.volumes ?? []);
  const wanted = declared.mounts;
  const isWanted = (mount: FoundMount) => wanted.some((each) => isSameMount(mount, each));
  const isExplained = (mount: FoundMount) => (mount.anonymous && own.has(mount.target)) || declared.hasFiles;
  const extra = mounts.filter((mount) => !isWanted(mount) && !isExplained(mount));
  const missing = wanted.filter((each) => !mounts.some((mount) => isSameMount(mount, each)));
  return [
    ...listed(
      "volumes: mounted in the container only, at",
      extra.map(({ target }) => target),
    ),
    ...(missing.length === 0
      ? []
      : [`volumes: ${missing.length} of the compose files are not mounted in the container`]),
  ];
}

function isSameMount(mount: FoundMount, declared: DeclaredMount): boolean {
  if (mount.type !== declared.type || mount.target !== declared.target) return false;
  if (declared.type === "tmpfs") return true;
  const isSameSource = declared.source === null ? mount.anonymous : mount.source === declared.source;
  return isSameSource && mount.readOnly === declared.readOnly;
}

function restartDrift({ restart }: FoundContainer, declared: DeclaredService): readonly string[] {
  if (declared.restart === null || declared.restart === restart) return [];
  return [`restart: ${restart} in the container, the compose files say ${declared.written.restart}`];
}

function countDrift(containers: readonly FoundContainer[], { replicas }: DeclaredService): readonly string[] {
  if (replicas === null || replicas === containers.length) return [];
  return [`containers: there are ${containers.length}, the compose files say ${replicas}`];
}

function without(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set(some)].filter((each) => !others.includes(each));
}

function listed(start: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${start}: ${names.toSorted().join(", ")}`];
}
