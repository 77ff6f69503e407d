import { bun } from "./bun.ts";
import { clojure } from "./clojure.ts";
import { compose } from "./compose.ts";
import { cpp } from "./cpp.ts";
import { crystal } from "./crystal.ts";
import { dart } from "./dart.ts";
import { deno } from "./deno.ts";
import { docker } from "./docker.ts";
import { dotnet } from "./dotnet.ts";
import type { Ecosystem, Refinement } from "./ecosystem.ts";
import { elixir } from "./elixir.ts";
import { envExample } from "./env_example.ts";
import { gleam } from "./gleam.ts";
import { go } from "./go.ts";
import { gradle } from "./gradle.ts";
import { haskell } from "./haskell.ts";
import { maven } from "./maven.ts";
import { node } from "./node.ts";
import { php } from "./php.ts";
import { procfile } from "./procfile.ts";
import { django, python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { rust } from "./rust.ts";
import { scala } from "./scala.ts";
import { shell } from "./shell.ts";
import { staticSite } from "./static_site.ts";
import { swift } from "./swift.ts";
import { zig } from "./zig.ts";

/** Every ecosystem; the first one that recognises a folder describes it. */
export const ECOSYSTEMS: readonly Ecosystem[] = [
  deno,
  django,
  php,
  ruby,
  node,
  bun,
  python,
  go,
  rust,
  maven,
  gradle,
  dotnet,
  elixir,
  gleam,
  clojure,
  scala,
  haskell,
  crystal,
  dart,
  zig,
  swift,
  cpp,
  staticSite,
  shell,
];

/** What is added afterwards, in this order. */
export const REFINEMENTS: readonly Refinement[] = [procfile, docker, compose, envExample];
