import { join } from "node:path";
import { droppingRights, type Sandbox } from "./sandbox.ts";

/** Runs programs with nothing but a session, a home and, under root, a user of their own. */
export const plain: Sandbox = {
  kind: "plain",
  depth: 1,
  endsWhole: false,
  surroundings: (room) => {
    const working = join(room.release, room.working);
    return { spawnFolder: working, working, home: room.home, programs: room.programs };
  },
  command: (room, command) => [...droppingRights(room), ...command],
};
