import { describe, expect, test } from "bun:test";
import { foregroundCommand } from "../../domain/image/foreground_command.ts";

describe("foregroundCommand()", () => {
  test.each([
    ["node server.js", "exec node server.js"],
    ["npm run start", "exec npm run start"],
    [".venv/bin/python -m uvicorn main:app --port $PORT", "exec .venv/bin/python -m uvicorn main:app --port $PORT"],
    ["HOST=0.0.0.0 node dist/server/entry.mjs", "exec env HOST=0.0.0.0 node dist/server/entry.mjs"],
    ['serve --listen "$PORT"', 'exec serve --listen "$PORT"'],
  ])("replaces the shell by the program: %s", (command, text) => {
    expect(foregroundCommand(command)).toBe(text);
  });

  test.each([
    "cd app && node server.js",
    "node a.js & node b.js; wait",
    "exec node server.js",
    "export A=1; node x",
    "node x | tee log",
    "node $(cat name)",
    "A=$(date) node x",
    "node 'a b'",
    "if true; then node x; fi",
    "node x\nnode y",
    ". ./env; node x",
    "",
  ])("keeps the shell for commands that need it: %j", (command) => {
    expect(foregroundCommand(command)).toBe(`trap : TERM INT\n${command}`);
  });

  test("is fast for any text", () => {
    for (const piece of ["a ", "A=1 ", "=", "$", '"', " "]) foregroundCommand(`${piece.repeat(200_000)};`);
  });

  test("lets a program under the shell handle the signal itself", async () => {
    const program = "$SIG{TERM} = sub { print qq(ended\\n); exit 0 }; $| = 1; print qq(up\\n); sleep 1 while 1";
    const command = foregroundCommand(`true && perl -e '${program}'`);
    const child = Bun.spawn(["/bin/sh", "-c", command], { stdout: "pipe", detached: true });
    let output = "";
    for await (const bytes of child.stdout) {
      output += new TextDecoder().decode(bytes);
      if (output === "up\n") process.kill(-child.pid, "SIGTERM");
    }
    expect(output).toBe("up\nended\n");
  });
});
