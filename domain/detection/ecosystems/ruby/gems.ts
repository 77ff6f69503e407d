import type { ProjectFolder } from "../../project_folder.ts";

/** The content of a Gemfile and its lockfile. */
export interface RubyGems {
  /** Returns whether the Gemfile requires a gem. */
  has(name: string): boolean;
  /** Returns whether a gem is installed, directly or as a dependency of another. */
  installs(name: string): boolean;
  /** The version of a gem in the lockfile. */
  version(name: string): string | undefined;
  /** The version of Ruby that the Gemfile requires. */
  readonly ruby: string | undefined;
  /** The versions of Ruby and Bundler that the lockfile was created with. */
  readonly lockedRuby: string | undefined;
  readonly bundler: string | undefined;
  readonly platforms: readonly string[];
}

const GEM = /^[ \t]{0,20}gem[ \t(]{1,9}["']([\w.-]{1,100})["']/gm;
const RUBY = /^[ \t]{0,20}ruby[ \t(]{1,9}["']([^"'\n]{1,60})["'](?:[ \t]{0,9},[ \t]{0,9}["']([^"'\n]{1,60})["'])?/m;
const LOCKED = /^ {4}([\w.-]{1,100}) \(([\w.]{1,50})(?:-[\w.-]{1,50})?\)/gm;
const LOCKED_RUBY = /^RUBY VERSION\r?\n {1,9}ruby (\d{1,3}\.\d{1,3}\.\d{1,3})/m;
const BUNDLED_WITH = /^BUNDLED WITH\r?\n {1,9}(\d{1,3}\.\d{1,3}\.\d{1,3})/m;

/** Parses the Gemfile and Gemfile.lock of a folder. */
export function rubyGems(folder: ProjectFolder): RubyGems {
  const gemfile = folder.text("Gemfile") ?? "";
  const lock = folder.text("Gemfile.lock") ?? "";
  const declared = new Set(Array.from(gemfile.matchAll(GEM), (match) => match[1]!));
  const locked = new Map(Array.from(lock.matchAll(LOCKED), (match) => [match[1]!, match[2]!]));
  return {
    has: (name) => declared.has(name),
    installs: (name) => declared.has(name) || locked.has(name),
    version: (name) => locked.get(name),
    ruby: RUBY.exec(gemfile)?.slice(1).filter(Boolean).join(", "),
    lockedRuby: LOCKED_RUBY.exec(lock)?.[1],
    bundler: BUNDLED_WITH.exec(lock)?.[1],
    platforms: platformsIn(lock),
  };
}

function platformsIn(lock: string): string[] {
  const start = lock.indexOf("\nPLATFORMS\n");
  if (start === -1) return [];
  const lines = lock.slice(start + "\nPLATFORMS\n".length, start + 2_000).split("\n");
  const end = lines.findIndex((line) => line.trim() === "");
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .flatMap((line) => /^ {2}([\w.-]{1,60})$/.exec(line)?.[1] ?? []);
}
