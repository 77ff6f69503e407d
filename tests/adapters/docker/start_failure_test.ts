import { describe, expect, test } from "bun:test";
import { EngineRefusal } from "../../../adapters/docker/engine/engine_api.ts";
import { startFailure } from "../../../adapters/docker/containers/start_failure.ts";
import type { Failure } from "../../../domain/failure.ts";
import { Secret } from "../../../domain/secret.ts";

const PLACE = "/var/lib/slipway/releases/dep_1/tree/conf";
const RUNS = { kind: "image", image: "sha256:0", command: null, ports: [] } as const;

function failureOf(status: number, words: string): Failure {
  const environment = new Map([["TOKEN", new Secret("canary-in-the-words")]]);
  const request = {
    instanceId: "a",
    deploymentId: "d",
    projectId: "p",
    service: "s",
    scope: "p",
    runs: RUNS,
    environment,
  };
  return startFailure(new EngineRefusal(status, words), request) as Failure;
}

describe("startFailure()", () => {
  test("names the path inside the container of a failed mount, and not the one on the machine", () => {
    const words = `OCI runtime create failed: error mounting "${PLACE}" to rootfs at "/etc": mount ${PLACE}:/etc (via /proc/self/fd/6), flags: 0x5000: not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)?`;
    for (const status of [400, 500]) {
      const failure = failureOf(status, words);
      expect([failure.kind, failure.code]).toEqual(["invalid", "mount_failed"]);
      expect(failure.message).toContain('"/etc"');
      expect(failure.message).not.toContain("slipway");
    }
  });

  test.each([
    ["Bind for 0.0.0.0:8080 failed: port is already allocated", "port_taken", "uses port 8080"],
    ["listen tcp4 127.0.0.1:53: bind: address already in use", "port_taken", "uses port 53"],
    ["Pool overlaps with other one on this address space", "network_overlaps", "address range"],
  ])("says what to do about: %s", (words, code, part) => {
    const failure = failureOf(500, `driver failed programming external connectivity on endpoint x: ${words}`);
    expect([failure.kind, failure.code]).toEqual(["invalid", code]);
    expect(failure.message).toContain(part);
  });

  test("shows no value of the environment", () => {
    expect(failureOf(400, "invalid: canary-in-the-words").message).not.toContain("canary");
  });
});
