import { bun } from "./ecosystems/node/bun.ts";
import { clojure } from "./ecosystems/jvm/clojure.ts";
import { compose } from "./ecosystems/compose.ts";
import { cpp } from "./ecosystems/cpp/cpp.ts";
import { crystal } from "./ecosystems/crystal.ts";
import { dart } from "./ecosystems/dart.ts";
import { deno } from "./ecosystems/deno/deno.ts";
import { docker } from "./ecosystems/docker.ts";
import { dotnet } from "./ecosystems/dotnet/dotnet.ts";
import type { Ecosystem, Refinement } from "./ecosystem.ts";
import { elixir } from "./ecosystems/elixir.ts";
import { envExample } from "./env_example.ts";
import { gleam } from "./ecosystems/gleam.ts";
import { go } from "./ecosystems/go/go.ts";
import { gradle } from "./ecosystems/jvm/gradle.ts";
import { haskell } from "./ecosystems/haskell.ts";
import { maven } from "./ecosystems/jvm/maven.ts";
import { node } from "./ecosystems/node/node.ts";
import { php } from "./ecosystems/php/php.ts";
import { procfile } from "./procfile.ts";
import { django, python } from "./ecosystems/python/python.ts";
import { ruby } from "./ecosystems/ruby/ruby.ts";
import { rust } from "./ecosystems/rust/rust.ts";
import { scala } from "./ecosystems/jvm/scala.ts";
import { shell } from "./ecosystems/shell.ts";
import { staticSite } from "./ecosystems/static_site.ts";
import { swift } from "./ecosystems/swift.ts";
import { zig } from "./ecosystems/zig.ts";

/** All ecosystems; when several detect a folder with the same rank, the first one wins. */
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

/** Refinements, applied in this order after the ecosystems. */
export const REFINEMENTS: readonly Refinement[] = [procfile, docker, compose, envExample];
