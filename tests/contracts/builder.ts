import { describe, expect, test } from "bun:test";
import type { Failure } from "../../domain/failure.ts";
import type { Builder, BuildRequest } from "../../ports/deployments/builder.ts";

/** The commands that the contract needs, in the form of the builder under test. */
export interface ContractCommands {
  /** Prints `one` and `two`, one per line. */
  readonly talking: string;
  /** Prints `failing`, then exits with code 3. */
  readonly failing: string;
  /** Calls `slipway-no-such-tool`, which does not exist. */
  readonly lacking: string;
  /** Prints `waiting`, then runs forever and ignores signals to stop. */
  readonly endless: string;
}

/** A builder with a folder to build in. */
export interface BuilderForContract extends AsyncDisposable {
  readonly builder: Builder;
  readonly folder: string;
  readonly commands: ContractCommands;
}

/** A build request for the contract's folder that records the output. */
export function buildRequest(
  { folder }: Pick<BuilderForContract, "folder">,
  commands: readonly string[],
  given: Partial<BuildRequest> = {},
): BuildRequest & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    deploymentId: "dep_1",
    folder,
    workingFolder: folder,
    commands: commands.map((command, index) => ({ name: index === 0 ? "install" : "build", command })),
    environment: new Map(),
    signal: new AbortController().signal,
    log: (line) => void lines.push(line),
    lines,
    ...given,
  };
}

/** Contract tests for `Builder` adapters. */
export function builderContract(name: string, open: () => Promise<BuilderForContract>) {
  describe(`Builder contract: ${name}`, () => {
    test("build() runs the commands one after the other and hands over what they print", async () => {
      await using world = await open();
      const request = buildRequest(world, [world.commands.talking, world.commands.talking]);
      await world.builder.build(request);
      expect(request.lines).toEqual(["one", "two", "one", "two"]);
    });

    test("build() without commands does nothing", async () => {
      await using world = await open();
      await world.builder.build(buildRequest(world, []));
    });

    test("build() fails naming the command and its exit code, and runs no further command", async () => {
      await using world = await open();
      const request = buildRequest(world, [world.commands.failing, world.commands.talking]);
      const error = (await world.builder.build(request).catch((reason: unknown) => reason)) as Failure;
      expect([error.kind, error.code]).toEqual(["invalid", "build_failed"]);
      expect(error.message).toContain("install command ended with exit code 3");
      expect(request.lines).toEqual(["failing"]);
    });

    test("build() fails naming the program that is not installed", async () => {
      await using world = await open();
      const request = buildRequest(world, [world.commands.talking, world.commands.lacking]);
      const error = (await world.builder.build(request).catch((reason: unknown) => reason)) as Failure;
      expect([error.kind, error.code]).toEqual(["invalid", "build_failed"]);
      expect(error.message).toStartWith(
        "Cannot finish the build: its build command calls slipway-no-such-tool, which is not installed. Add ",
      );
    });

    test("build() stops when aborted, with the given reason", async () => {
      await using world = await open();
      const stop = new AbortController();
      const lines: string[] = [];
      const reason = new Error("enough");
      const request = buildRequest(world, [world.commands.endless, world.commands.talking], {
        signal: stop.signal,
        log: (line) => {
          lines.push(line);
          stop.abort(reason);
        },
      });
      expect(await world.builder.build(request).catch((error: unknown) => error)).toBe(reason);
      expect(lines).toEqual(["waiting"]);
    });

    test("build() that was aborted before it started runs nothing", async () => {
      await using world = await open();
      const request = buildRequest(world, [world.commands.talking], { signal: AbortSignal.abort(new Error("no")) });
      expect(world.builder.build(request)).rejects.toThrow("no");
      expect(request.lines).toEqual([]);
    });

    test("build() reads more output only when the log is ready", async () => {
      await using world = await open();
      let waiting = 0;
      let most = 0;
      const log = async () => {
        most = Math.max(most, ++waiting);
        await Bun.sleep(20);
        waiting--;
      };
      await world.builder.build(buildRequest(world, [world.commands.talking], { log }));
      expect([most, waiting]).toEqual([1, 0]);
    });
  });
}
