/** One program with its arguments, using no shell feature except variables. */
const SIMPLE = /^(?:[A-Za-z_]\w*=[\w./:@%+,-]*[ \t]+)*[\w./@+-]+(?:[ \t]+[\w./:@%+,=${}"-]+)*$/;
const ASSIGNED = /^[A-Za-z_]\w*=/;
/** Shell builtins, and keywords that begin a compound command. */
const OF_THE_SHELL =
  /^(?:\.|alias|break|case|cd|command|continue|do|eval|exec|exit|export|for|function|if|read|return|set|shift|source|test|times|trap|type|ulimit|umask|unset|until|wait|while|[{!])$/;

/** Makes the init process send signals to every program of the container. */
export const SIGNAL_ALL = { name: "TINI_KILL_PROCESS_GROUP", value: "1" } as const;

/**
 * Returns a script for `sh -c` that runs a command so that it can shut down gracefully: a simple program replaces the
 * shell (`exec`) and receives the signal itself. Anything else keeps the shell, which waits for its children instead of
 * abandoning them, provided that the signal reaches all (`SIGNAL_ALL`).
 */
export function foregroundCommand(command: string): string {
  const text = command.trim();
  const [first = ""] = text.split(/\s+/).filter((word) => !ASSIGNED.test(word));
  if (!SIMPLE.test(text) || OF_THE_SHELL.test(first)) return `trap : TERM INT\n${command}`;
  return ASSIGNED.test(text) ? `exec env ${text}` : `exec ${text}`;
}
