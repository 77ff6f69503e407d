import { BadSetting, readConfig } from "./config.ts";
import { Failure } from "./domain/failure.ts";

/** Serves until a stop signal, and returns the exit code. */
async function main(): Promise<number> {
  try {
    const config = readConfig(process.env, process.cwd());
    // Loaded late, because it takes a while: an invalid setting is reported at once.
    const { serve } = await import("./wiring/serve.ts");
    return await serve(config);
  } catch (error) {
    if (!(error instanceof Failure || error instanceof BadSetting)) throw error;
    process.stderr.write(`slipway: ${error.message}\n`);
    return 1;
  }
}

// Without `await`, which Bun cannot compile ahead of time at this level.
void main().then((code) => process.exit(code));
