import { join } from "node:path";
import { droppingRights, type Sandbox } from "./sandbox.ts";

/** Runs programs without isolation except their own session, home and, when the server is root, user. */
export const plain: Sandbox = {
  kind: "plain",
  depth: 1,
  endsWhole: false,
  surroundings: (dirs) => {
    const working = join(dirs.release, dirs.working);
    return { spawnFolder: working, working, home: dirs.home, programs: dirs.programs };
  },
  command: (dirs, command) => [...droppingRights(dirs), ...command],
};
