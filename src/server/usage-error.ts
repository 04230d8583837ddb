/** An invalid value on the command line. The message names the flag and how to fix it. */
export class UsageError extends Error {
  readonly code = "ERR_PARSE_ARGS_VALUE";
}
