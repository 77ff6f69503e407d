/** One program with its arguments, and nothing that only a shell can do but fill in variables. */
const SIMPLE = /^(?:[A-Za-z_]\w*=[\w./:@%+,-]*[ \t]+)*[\w./@+-]+(?:[ \t]+[\w./:@%+,=${}"-]+)*$/;
const ASSIGNED = /^[A-Za-z_]\w*=/;
/** What a shell does itself, or begins something longer with. */
const OF_THE_SHELL =
  /^(?:\.|alias|break|case|cd|command|continue|do|eval|exec|exit|export|for|function|if|read|return|set|shift|source|test|times|trap|type|ulimit|umask|unset|until|wait|while|[{!])$/;

/** What an init process sends a signal to every program of the container by. */
export const SIGNAL_ALL = { name: "TINI_KILL_PROCESS_GROUP", value: "1" } as const;

/**
 * A text for `sh -c` that runs a command so that it can end in its own way: a program takes the place of the shell and is asked to stop itself; where it needs
 * the shell, that waits for it instead of leaving it behind, provided that the signal reaches both (`SIGNAL_ALL`).
 */
export function foregroundCommand(command: string): string {
  const text = command.trim();
  const [first = ""] = text.split(/\s+/).filter((word) => !ASSIGNED.test(word));
  if (!SIMPLE.test(text) || OF_THE_SHELL.test(first)) return `trap : TERM INT\n${command}`;
  return ASSIGNED.test(text) ? `exec env ${text}` : `exec ${text}`;
}
