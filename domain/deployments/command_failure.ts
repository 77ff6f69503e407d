import { type Failure, invalid } from "../failure.ts";
import { missingTool, toolAdvice } from "./missing_tool.ts";

/** How many of a command's last lines are searched for the reason of its failure. */
export const TELLING_LINES = 50;

/** Returns the failure of a build command, given its exit code and its last lines of output. */
export function commandFailure(
  name: "install" | "build",
  { code, lines }: { readonly code: number; readonly lines: readonly string[] },
): Failure {
  const tool = missingTool(lines, code);
  const ending = `its ${name} command ${endingOf(code)}`;
  if (tool === undefined) return invalid("build_failed", `Cannot finish the build: ${ending}; the log says why`);
  const advice = toolAdvice(tool, { where: "machine", caller: `its ${name} command` });
  return invalid("build_failed", `Cannot finish the build: ${advice}`);
}

function endingOf(code: number): string {
  if (code === 137) return "was killed by signal 9; the machine may be short of memory";
  return code > 128 ? `was killed by signal ${code - 128}` : `ended with exit code ${code}`;
}
