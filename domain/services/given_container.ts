import { invalidField } from "../failure.ts";
import type { ServiceDefinition, ServiceHealthcheck } from "./service_definition.ts";
import { durationMs } from "./duration.ts";
import { fieldValue } from "./field_value.ts";
import { type ContainerSpec, PLAIN_CONTAINER, type ServiceHealth, type ServiceMount } from "./service_spec.ts";
import { shellWords } from "./shell_words.ts";
import { volumeEntry } from "./volume_notation.ts";

/** The minimum that the container engine accepts. */
const LEAST_MEMORY = 6_291_456;
const LEAST_CPUS = 0.01;

/** Returns how the container of a defined service differs from its image; throws with the path of an invalid field. */
export function givenContainer(definition: ServiceDefinition, path: string): ContainerSpec {
  const { command, entrypoint, healthcheck, resources = {}, volumes = [] } = definition;
  const { cpus = null, memoryBytes = null } = resources;
  if (memoryBytes !== null && memoryBytes < LEAST_MEMORY)
    throw invalidField(`${path}.resources.memoryBytes`, `no container starts with less than ${LEAST_MEMORY} bytes`);
  if (cpus !== null && (cpus < LEAST_CPUS || !Number.isFinite(cpus)))
    throw invalidField(`${path}.resources.cpus`, `give at least ${LEAST_CPUS}`);
  return {
    ...PLAIN_CONTAINER,
    entrypoint: entrypoint === undefined ? null : wordsOf(entrypoint, `${path}.entrypoint`),
    command: command === undefined ? null : wordsOf(command, `${path}.command`),
    mounts: mountsOf(volumes, `${path}.volumes`),
    healthcheck: healthcheck === undefined ? null : healthOf(healthcheck, `${path}.healthcheck`),
    limits: { ...PLAIN_CONTAINER.limits, cpus, memoryBytes },
  };
}

function wordsOf(given: string | readonly string[], path: string): readonly string[] {
  if (typeof given === "string") return fieldValue(shellWords(given), path);
  if (given.some((word) => word.includes("\0"))) throw invalidField(path, "it contains a NUL character");
  return given;
}

function mountsOf(volumes: readonly string[], path: string): readonly ServiceMount[] {
  const mounts = volumes.map((entry, index) => fieldValue(volumeEntry(entry), `${path}.${index}`));
  const repeated = mounts.findIndex(({ target }, index) => mounts.findIndex((one) => one.target === target) < index);
  if (repeated >= 0) throw invalidField(`${path}.${repeated}`, "something else is mounted at this path already");
  return mounts;
}

function healthOf(given: ServiceHealthcheck, path: string): ServiceHealth | "none" {
  const test = given.test === undefined ? null : testOf(given.test, `${path}.test`);
  if (test === "none") return "none";
  const span = (field: "interval" | "timeout" | "startPeriod") => {
    const value = given[field];
    return value === undefined ? null : fieldValue(durationMs(value), `${path}.${field}`);
  };
  return {
    test,
    intervalMs: span("interval"),
    timeoutMs: span("timeout"),
    retries: given.retries ?? null,
    startPeriodMs: span("startPeriod"),
  };
}

function testOf(given: string | readonly string[], path: string): ServiceHealth["test"] | "none" {
  const words = wordsOf(typeof given === "string" ? [given] : given, path);
  if (typeof given === "string") return { shell: given };
  const [first, ...rest] = words;
  if (first === "NONE") return "none";
  const command = first === "CMD" || first === "CMD-SHELL" ? rest : words;
  if (command.length === 0) throw invalidField(path, "give the command to run");
  return first === "CMD-SHELL" ? { shell: command.join(" ") } : command;
}
