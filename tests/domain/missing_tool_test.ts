import { describe, expect, test } from "bun:test";
import { missingTool, toolAdvice } from "../../domain/deployments/missing_tool.ts";

describe("missingTool()", () => {
  test.each([
    ["/bin/sh: 1: go: not found", "go"],
    ["sh: 1: vite: not found", "vite"],
    ["sh: 1: exec: gunicorn: not found", "gunicorn"],
    ["/bin/sh: cargo: not found", "cargo"],
    ["bash: line 1: mix: command not found", "mix"],
    ["./build.sh: line 12: dotnet: command not found", "dotnet"],
    ["zsh:1: command not found: php", "php"],
    ["bun: command not found: next", "next"],
    ["/usr/bin/env: ‘python3’: No such file or directory", "python3"],
    ["env: 'node': No such file or directory", "node"],
    ["env: can't execute 'ruby': No such file or directory", "ruby"],
    ["make: go: No such file or directory", "go"],
    ["/bin/sh: 1: ./run.sh: not found", "./run.sh"],
    ["\u001b[31msh: 1: tsc: not found\u001b[0m", "tsc"],
  ])("reads %p", (line, tool) => {
    expect(missingTool(["building", line, "npm error code 127"], 127)).toBe(tool);
  });

  test("returns the last missing tool", () => {
    expect(missingTool(["sh: 1: one: not found", "sh: 1: two: not found"], 127)).toBe("two");
  });

  test("accepts an intermediate program that reports the exit code of its child", () => {
    expect(missingTool(["make: go: No such file or directory", "make: *** [all] Error 127"], 2)).toBe("go");
    expect(missingTool(["sh: 1: next: not found", " ELIFECYCLE  Command failed with exit code 127."], 1)).toBe("next");
  });

  test.each([
    [["sh: 1: nvm: not found", "compiled, but a test failed"], 1],
    [["page not found"], 127],
    [["npm error 404 Not Found"], 127],
    [["sh: 1: $(id): not found"], 127],
    [[], 127],
  ])("returns nothing for %j with code %p", (lines, code) => {
    expect(missingTool(lines, code)).toBeUndefined();
  });
});

describe("toolAdvice()", () => {
  test.each([
    [
      "go",
      'Go is not installed on this machine. Install it, or let Docker build this: set the runtime of the project to "docker"',
    ],
    [
      "npm",
      'npm, which comes with Node.js, is not installed on this machine. Install it, or let Docker build this: set the runtime of the project to "docker"',
    ],
    [
      "vite",
      "it calls vite, which is not installed. Add vite to the dependencies of the project, or install it on this machine",
    ],
    ["./run.sh", "it calls ./run.sh, which is not there. Correct the command, or add the file"],
    [
      "constructor",
      "it calls constructor, which is not installed. Add constructor to the dependencies of the project, or install it on this machine",
    ],
  ])("for %s on this machine", (tool, sentence) => {
    expect(toolAdvice(tool, { where: "machine", caller: "it" })).toBe(sentence);
  });

  test.each([
    ["go", "Go is not in its image. Add it there, or start something that is"],
    ["vite", "it calls vite, which is not in its image. Add vite to the dependencies of the project, or to the image"],
    ["./run.sh", "it calls ./run.sh, which is not there. Correct the command, or add the file"],
  ])("for %s in an image", (tool, sentence) => {
    expect(toolAdvice(tool, { where: "image", caller: "it" })).toBe(sentence);
  });
});
