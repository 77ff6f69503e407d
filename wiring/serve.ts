import { ConsoleLog } from "../adapters/console/log.ts";
import { addressUnusable } from "../adapters/shared/address_unusable.ts";
import { defaultRuntime, buildApplication } from "./build_application.ts";
import { VERSION } from "./version.ts";
import type { Config } from "../config.ts";
import { loggedError } from "../domain/logged_error.ts";
import { handleFaults } from "./fault_handlers.ts";
import { type Listener, listen } from "./listen.ts";
import { openWorld } from "./open_world.ts";
import { startEngine } from "./start_engine.ts";
import { welcome } from "./welcome.ts";

const UPKEEP_MS = 60_000;
/** The deadline for a graceful stop after an uncaught exception. */
const BROKEN_MS = 30_000;

/**
 * Starts everything, serves until a stop signal or an uncaught exception, stops everything in order, and returns the
 * exit code.
 */
export async function serve(config: Config): Promise<number> {
  const stopping = stopSignal();
  using log = new ConsoleLog({
    level: config.logLevel,
    format: config.logFormat ?? (process.stderr.isTTY ? "text" : "json"),
    print: (text) => void process.stderr.write(text),
  });
  using faults = handleFaults(log);
  const listener = takeAddress(config);
  await using opened = new AsyncDisposableStack();
  const world = opened.use(await openWorld(config, log));
  const publicUrl =
    config.publicUrl ?? `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${listener.port}`;
  const { handle, useCases } = buildApplication(world, { ...config, publicUrl });
  const { shownToken } = await useCases.claimInstallation(config.adminToken?.reveal());
  opened.use(await startEngine(world, { ...config, publicUrl }));
  const watching = new AbortController();
  const deviceLogins = useCases.watchDeviceLogins(watching.signal);
  const upkeep = setInterval(() => void tidy(), UPKEEP_MS);
  listener.serve(handle);
  const appsUrl = `http://<name>.${config.baseDomain}:${world.edge.port}`;
  const { dataFolder } = config;
  const runtime = await defaultRuntime(world, config);
  process.stdout.write(welcome({ version: VERSION, publicUrl, dataFolder, appsUrl, runtime, shownToken }));
  const first = tidy();
  const ending = await Promise.race([stopping, faults.broken]);
  // After an uncaught exception a graceful stop may hang.
  if (ending === "broken") setTimeout(() => process.exit(1), BROKEN_MS).unref();
  log.write("info", "Stopping: no new requests, running ones may finish");
  clearInterval(upkeep);
  watching.abort();
  await deviceLogins;
  await listener.stop(config.stopTimeoutSeconds * 1_000);
  await first;
  return ending === "broken" ? 1 : 0;

  async function tidy(): Promise<void> {
    try {
      await useCases.sweep();
      await useCases.sweepHistory();
      await useCases.sweepUploads();
      await useCases.sweepGitHost();
    } catch (error) {
      log.write("warn", "Maintenance failed and will be retried", { ...loggedError(error) });
    }
  }
}

function takeAddress({ host, port }: Config): Listener {
  try {
    return listen({ host, port });
  } catch (cause) {
    throw addressUnusable({ host, port, setting: "PORT" }, cause);
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}
