import { BadSetting, readConfig } from "./config.ts";
import { Failure } from "./domain/failure.ts";

try {
  const config = readConfig(process.env, process.cwd());
  // Loaded late, because it takes a while: an invalid setting is reported at once.
  const { serve } = await import("./wiring/serve.ts");
  process.exit(await serve(config));
} catch (error) {
  if (!(error instanceof Failure || error instanceof BadSetting)) throw error;
  process.stderr.write(`slipway: ${error.message}\n`);
  process.exit(1);
}
